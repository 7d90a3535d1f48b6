package rocketdiff.simulation.scheduler;

import java.util.function.BooleanSupplier;

/** One virtual thread's wait for a condition or a deadline. */
final class Wait {
    final VirtualThread thread;
    final BooleanSupplier condition;
    boolean woken;
    boolean expired;
    boolean over;

    Wait(VirtualThread thread, BooleanSupplier condition) {
        this.thread = thread;
        this.condition = condition;
    }

    boolean mayGoOn() {
        return !woken && (thread.interrupted || condition.getAsBoolean());
    }

    @Override
    public String toString() {
        return thread.toString();
    }
}
