package rocketdiff.simulation.standins;

import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.Tape;

/** What `new Random` makes in the classes whose draws a script can see. */
public final class TapeRandom extends DrawnRandom {
    private static final long serialVersionUID = 1;

    public TapeRandom() {
    }

    public TapeRandom(long seed) {
    }

    @Override
    Tape tape() {
        return Scheduler.current().tape;
    }
}
