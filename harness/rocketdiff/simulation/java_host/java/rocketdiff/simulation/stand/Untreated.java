package rocketdiff.simulation.stand;

import rocketdiff.simulation.world.Failure;
import rocketdiff.simulation.world.World;

/** Where rewritten code would have touched real time, real threads or real chance. */
public final class Untreated {
    private Untreated() {
    }

    /** Ends the script, naming the place; also when the code around catches everything. */
    public static void reached(String place) {
        Failure failure = new Failure(Failure.UNTREATED, place);
        World.current().fail(failure);
        throw failure;
    }
}
