package rocketdiff.simulation.scheduler;

import java.util.concurrent.locks.LockSupport;

/**
 * A thread of virtual time: has a real thread for as long as it lives, so that stacks and locks are as in life, but runs
 * only while it has the baton.
 */
public final class VirtualThread {
    /** What rewritten code sees as Thread.currentThread(); null for the sender that the host itself runs on. */
    public final Thread face;
    /** The attempt of a send that this thread is busy with, for whoever asks on its way. */
    public Object errand;
    /** Asks whatever it runs to end, since it goes on after its script has ended. */
    public Runnable endless = () -> { };

    final String name;
    boolean interrupted;
    boolean ended;
    int unwound;
    private final Scheduler scheduler;
    private volatile boolean turn;
    private Thread carrier;

    VirtualThread(Scheduler scheduler, String name, Thread face) {
        this.scheduler = scheduler;
        this.name = name;
        this.face = face;
    }

    /** The thread that calls this becomes the carrier and has the baton. */
    void adopt() {
        carrier = Thread.currentThread();
    }

    void start(Runnable body) {
        carrier = Carrier.carrying(() -> run(body));
    }

    boolean isStarted() {
        return carrier != null;
    }

    private void run(Runnable body) {
        park();
        try {
            if (!scheduler.isOver()) {
                body.run();
            }
        } catch (ScriptOver end) {
            // The script ended while this thread was waiting.
        } catch (ApplicationError end) {
            // The client lets its threads end by it.
        } catch (Throwable death) {
            scheduler.died(this, death);
        }
        ended = true;
        ((Carrier) Thread.currentThread()).becomeIdle();
        scheduler.leave();
    }

    /** Sleeps for real until the baton is given to this thread. */
    void park() {
        while (!turn) {
            LockSupport.park(this);
        }
        turn = false;
    }

    void unpark() {
        turn = true;
        LockSupport.unpark(carrier);
    }

    /** Whether it was interrupted; forgets it, as Thread.interrupted() does. */
    public boolean takeInterrupt() {
        boolean was = interrupted;
        interrupted = false;
        return was;
    }

    public boolean isInterrupted() {
        return interrupted;
    }

    public boolean hasEnded() {
        return ended;
    }

    @Override
    public String toString() {
        return name;
    }
}
