package rocketdiff.simulation.scheduler;

import java.util.PriorityQueue;

/** The clock and what is due when. */
final class Agenda {
    private static final long MOST_EVENTS = 10_000_000;
    /** Without an answer; the same in the reference. A quiet client has so many in a fortnight. */
    private static final long MOST_SILENT_EVENTS = 1_000_000;
    private static final long CENTURY_MS = 100L * 365 * 24 * 3_600_000;

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long nowMs;
    private long ordered;
    private long happened;
    private long happenedUpToAnswer;

    long nowMs() {
        return nowMs;
    }

    /** What lies in the past is now. */
    void add(long dueMs, Runnable action, Wait wait) {
        events.add(new Event(Math.max(dueMs, nowMs), ordered++, action, wait));
    }

    /** Whether something is due at this very millisecond. */
    boolean isDue() {
        return !events.isEmpty() && events.peek().dueMs <= nowMs;
    }

    /** The next event whose wait is not over, with the clock set to its time; null when nothing is left. */
    Event next() {
        Event event = events.poll();
        while (event != null && event.wait != null && event.wait.over) {
            event = events.poll();
        }
        if (event != null) {
            nowMs = event.dueMs;
            happened++;
        }
        return event;
    }

    void answered() {
        happenedUpToAnswer = happened;
    }

    /** Too many events, or a century: a script that never ends, or that nobody will wait for. */
    boolean isEndless() {
        return happened > MOST_EVENTS || happened - happenedUpToAnswer > MOST_SILENT_EVENTS || nowMs > CENTURY_MS;
    }

    @Override
    public String toString() {
        return happened + " events up to " + nowMs + " ms, " + (happened - happenedUpToAnswer)
            + " of them since the last answer";
    }
}
