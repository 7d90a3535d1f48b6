package rocketdiff.simulation.consuming;

import java.util.List;

/** How the listener of a script ends its calls: the messages that a row names fail as often as it says. */
public final class Listening {
    private final List<Row> rows;
    /** Whether the member subscribes also to a topic that no name server knows. */
    final boolean hasUnknownTopic;
    final boolean isOrderly;
    final boolean broadcasts;
    /** The expression of the subscription. */
    final String tags;
    /** -1: the client's default. */
    final int mostReconsumeTimes;
    /** Whether the application polls: a lite pull consumer. */
    final boolean polls;
    /** Queues that it works on without a subscription: broker and id of each in turn; null: it subscribes. */
    final List<Object> assigned;
    /** Whether its application has a hook of consumption. */
    final boolean hasHook;

    public Listening(
        List<Row> rows, boolean hasUnknownTopic, boolean isOrderly, boolean broadcasts, String tags,
        int mostReconsumeTimes, boolean polls, List<Object> assigned, boolean hasHook) {
        this.rows = rows;
        this.hasUnknownTopic = hasUnknownTopic;
        this.isOrderly = isOrderly;
        this.broadcasts = broadcasts;
        this.tags = tags;
        this.mostReconsumeTimes = mostReconsumeTimes;
        this.polls = polls;
        this.assigned = assigned;
        this.hasHook = hasHook;
    }

    /** How the call with a message ends; null: with success, at once. */
    Row row(long offset, int times) {
        for (Row row : rows) {
            if (offset % row.every == row.offset && times < row.tries) {
                return row;
            }
        }
        return null;
    }

    /** Of every so many offsets, the one with this remainder, so many times. */
    public static final class Row {
        final long every;
        final long offset;
        final long tries;
        /** later, throw, none or success. */
        final String then;
        /** The delay level, or the ms of a pause in order; null: as the client does. */
        final Long level;
        final long worksMs;

        public Row(long every, long offset, long tries, String then, Long level, long worksMs) {
            this.every = every;
            this.offset = offset;
            this.tries = tries;
            this.then = then;
            this.level = level;
            this.worksMs = worksMs;
        }
    }
}
