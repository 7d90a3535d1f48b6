package rocketdiff.simulation.stand;

import rocketdiff.simulation.world.World;

/** Math.random; no class that selects uses it. */
@StandsFor(Math.class)
public final class MathCalls {
    private MathCalls() {
    }

    public static double random() {
        return World.current().noise.unit();
    }
}
