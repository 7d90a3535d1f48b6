package rocketdiff.simulation.scheduler;

/** Random numbers of a script: splitmix64 from its seed, the sequence that the Python reference draws as well. */
public final class Tape {
    private static final long STEP = 0x9E3779B97F4A7C15L;

    private long state;

    public Tape(long seed) {
        this.state = seed;
    }

    /** Begins the sequence of a seed. */
    public void rewind(long seed) {
        this.state = seed;
    }

    public long mix() {
        state += STEP;
        long z = state;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    public int int32() {
        return (int) mix();
    }

    public int below(int bound) {
        if (bound <= 0) {
            throw new IllegalArgumentException("bound must be positive");
        }
        return (int) Long.remainderUnsigned(mix(), bound);
    }

    /** From 0 to 1, as Math.random has it. */
    public double unit() {
        return (mix() >>> 11) * 0x1.0p-53;
    }
}
