package rocketdiff.simulation.consuming;

import java.util.List;

/** How the listener of a script ends its calls: the messages that a row names fail as often as it says. */
public final class Listening {
    private final List<long[]> rows;
    /** Whether the member subscribes also to a topic that no name server knows. */
    final boolean hasUnknownTopic;
    final boolean isOrderly;

    /** rows: of every so many offsets, the one with this remainder, so many times. */
    public Listening(List<long[]> rows, boolean hasUnknownTopic, boolean isOrderly) {
        this.rows = rows;
        this.hasUnknownTopic = hasUnknownTopic;
        this.isOrderly = isOrderly;
    }

    boolean fails(long offset, int times) {
        for (long[] row : rows) {
            if (offset % row[0] == row[1] && times < row[2]) {
                return true;
            }
        }
        return false;
    }
}
