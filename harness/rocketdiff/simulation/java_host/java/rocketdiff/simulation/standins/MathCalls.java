package rocketdiff.simulation.standins;

import rocketdiff.simulation.scheduler.Scheduler;

/** Math.random; no class that selects uses it. */
@StandsFor(Math.class)
public final class MathCalls {
    private MathCalls() {
    }

    public static double random() {
        return Scheduler.current().noise.unit();
    }
}
