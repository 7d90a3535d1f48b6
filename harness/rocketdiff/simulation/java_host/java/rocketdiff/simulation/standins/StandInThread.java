package rocketdiff.simulation.standins;

import rocketdiff.simulation.remoting.NettyRules;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.VirtualThread;

/** What `new Thread` makes in rewritten code; it never becomes a real thread but has a virtual one run it. */
public class StandInThread extends Thread {
    private VirtualThread virtual;

    public StandInThread() {
    }

    public StandInThread(Runnable target) {
        super(target);
    }

    public StandInThread(String name) {
        super(name);
    }

    public StandInThread(Runnable target, String name) {
        super(target, name);
    }

    public StandInThread(ThreadGroup group, Runnable target, String name) {
        super(target, name);
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
