package rocketdiff.simulation.standins;

import rocketdiff.simulation.scheduler.Scheduler;

/** The two clocks. */
@StandsFor(System.class)
public final class SystemCalls {
    private SystemCalls() {
    }

    public static long currentTimeMillis() {
        return Scheduler.EPOCH_MS + Scheduler.current().nowMs();
    }

    public static long nanoTime() {
        return Scheduler.current().nowMs() * 1_000_000;
    }
}
