package rocketdiff.simulation.stand;

import rocketdiff.simulation.world.Tape;
import rocketdiff.simulation.world.World;

/** What `new Random` makes in the classes whose draws a script can see. */
public final class TapeRandom extends DrawnRandom {
    private static final long serialVersionUID = 1;

    public TapeRandom() {
    }

    public TapeRandom(long seed) {
    }

    @Override
    Tape tape() {
        return World.current().tape;
    }
}
