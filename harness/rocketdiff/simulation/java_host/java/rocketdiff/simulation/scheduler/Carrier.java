package rocketdiff.simulation.scheduler;

import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;

/**
 * A real thread that runs one virtual thread after another, also of later scripts: making one takes longer than a send.
 *
 * <p>Who is idle is only ever asked or said with the baton in hand.
 */
final class Carrier extends Thread {
    private static final ArrayDeque<Carrier> IDLE = new ArrayDeque<>();
    private static final long STACK_BYTES = 256 * 1024;
    private static int made;

    private volatile Runnable ride;

    private Carrier() {
        super(null, null, "carrier-" + made++, STACK_BYTES);
        setDaemon(true);
    }

    /** An idle carrier, or a new one, set to work. */
    static Carrier carrying(Runnable ride) {
        Carrier carrier = IDLE.poll();
        if (carrier == null) {
            carrier = new Carrier();
            carrier.start();
        }
        carrier.ride = ride;
        LockSupport.unpark(carrier);
        return carrier;
    }

    /** Said by the carrier itself, last thing before it gives the baton on. */
    void becomeIdle() {
        IDLE.push(this);
    }

    @Override
    public void run() {
        while (true) {
            while (ride == null) {
                LockSupport.park(this);
            }
            Runnable now = ride;
            ride = null;
            now.run();
        }
    }
}
