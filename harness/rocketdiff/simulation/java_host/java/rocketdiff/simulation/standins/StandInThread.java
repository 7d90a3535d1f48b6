package rocketdiff.simulation.standins;

import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.remoting.NettyRules;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.VirtualThread;

/** What `new Thread` makes in rewritten code; it never becomes a real thread but has a virtual one run it. */
public class StandInThread extends Thread {
    private final Runnable target;
    private VirtualThread virtual;

    public StandInThread() {
        this.target = null;
    }

    public StandInThread(Runnable target) {
        super(target);
        this.target = target;
    }

    public StandInThread(String name) {
        super(name);
        this.target = null;
    }

    public StandInThread(Runnable target, String name) {
        super(target, name);
        this.target = target;
    }

    public StandInThread(ThreadGroup group, Runnable target, String name) {
        super(target, name);
        this.target = target;
    }

    @Override
    public synchronized void start() {
        if (virtual != null) {
            throw new IllegalThreadStateException();
        }
        if (NettyRules.neverRuns(getName(), Scheduler.current().consumes)) {
            return;
        }
        virtual = Scheduler.current().spawn(getName(), this, this::run);
        virtual.endless = this::stopService;
    }

    /** Ends the loop of a client's service, as its shutdown would (ServiceThread.stopped). */
    private void stopService() {
        if (target != null && Members.fieldOrNull(target.getClass(), "stopped") != null) {
            Members.set(target, "stopped", true);
        }
    }

    @Override
    public void interrupt() {
        if (virtual != null) {
            Scheduler.current().interrupt(virtual);
        }
    }

    boolean isRunning() {
        return virtual != null && !virtual.hasEnded();
    }

    boolean isMarkedInterrupted() {
        return virtual != null && virtual.isInterrupted();
    }
}
