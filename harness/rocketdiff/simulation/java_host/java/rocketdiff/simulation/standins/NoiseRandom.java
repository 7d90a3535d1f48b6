package rocketdiff.simulation.standins;

import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.Tape;

/** What `new Random` makes everywhere else. */
public final class NoiseRandom extends DrawnRandom {
    private static final long serialVersionUID = 1;

    public NoiseRandom() {
    }

    public NoiseRandom(long seed) {
    }

    @Override
    Tape tape() {
        return Scheduler.current().noise;
    }
}
