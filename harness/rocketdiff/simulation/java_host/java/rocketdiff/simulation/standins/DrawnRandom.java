package rocketdiff.simulation.standins;

import java.util.Random;
import rocketdiff.simulation.scheduler.Tape;

/** A Random whose numbers come from a tape; its own seed is of no account. */
abstract class DrawnRandom extends Random {
    private static final long serialVersionUID = 1;

    DrawnRandom() {
        super(0);
    }

    abstract Tape tape();

    @Override
    public final int nextInt() {
        return tape().int32();
    }

    @Override
    public final int nextInt(int bound) {
        return tape().below(bound);
    }

    @Override
    protected final int next(int bits) {
        return (int) (tape().mix() >>> (64 - bits));
    }
}
