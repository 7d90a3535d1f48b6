package rocketdiff.simulation.scheduler;

/** Something due at a virtual time: an action, or a thread that goes on. Equal times: in the order of scheduling. */
final class Event implements Comparable<Event> {
    final long dueMs;
    final long order;
    final Runnable action;
    final Wait wait;

    Event(long dueMs, long order, Runnable action, Wait wait) {
        this.dueMs = dueMs;
        this.order = order;
        this.action = action;
        this.wait = wait;
    }

    @Override
    public int compareTo(Event other) {
        return dueMs != other.dueMs ? Long.compare(dueMs, other.dueMs) : Long.compare(order, other.order);
    }
}
