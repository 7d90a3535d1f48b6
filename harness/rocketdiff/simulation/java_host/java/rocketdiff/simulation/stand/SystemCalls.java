package rocketdiff.simulation.stand;

import rocketdiff.simulation.world.World;

/** The two clocks. */
@StandsFor(System.class)
public final class SystemCalls {
    private SystemCalls() {
    }

    public static long currentTimeMillis() {
        return World.EPOCH_MS + World.current().nowMs();
    }

    public static long nanoTime() {
        return World.current().nowMs() * 1_000_000;
    }
}
