package rocketdiff.simulation.stand;

import rocketdiff.simulation.world.Tape;
import rocketdiff.simulation.world.World;

/** What `new Random` makes everywhere else. */
public final class NoiseRandom extends DrawnRandom {
    private static final long serialVersionUID = 1;

    public NoiseRandom() {
    }

    public NoiseRandom(long seed) {
    }

    @Override
    Tape tape() {
        return World.current().noise;
    }
}
