package rocketdiff.simulation.standins;

import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.Scheduler;

/** Where rewritten code would have touched real time, real threads or real chance. */
public final class Untreated {
    private Untreated() {
    }

    /** Ends the script, naming the place; also when the code around catches everything. */
    public static void reached(String place) {
        Failure failure = new Failure(Failure.UNTREATED, place);
        Scheduler.current().fail(failure);
        throw failure;
    }
}
