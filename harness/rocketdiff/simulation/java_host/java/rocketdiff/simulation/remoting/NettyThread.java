package rocketdiff.simulation.remoting;

import java.util.ArrayDeque;
import java.util.Deque;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.VirtualThread;

/**
 * The client's network thread, for the listeners of connects: from 5.3.0 on they write requests and choose where to retry, so
 * they need a thread, and an index, of their own. All else that the network does is an event without a thread.
 */
final class NettyThread {
    private final Scheduler scheduler = Scheduler.current();
    private final Deque<Runnable> jobs = new ArrayDeque<>();
    private VirtualThread thread;
    private boolean busy;

    /** Whether one of its jobs is running. Events that happen to run on its stack while it waits are not its own. */
    boolean isRunning() {
        return busy;
    }

    void execute(Runnable job) {
        jobs.add(job);
        if (thread == null) {
            thread = scheduler.spawn("NettyClientSelector", null, this::run);
        } else {
            scheduler.poke();
        }
    }

    private void run() {
        while (true) {
            while (!jobs.isEmpty()) {
                busy = true;
                jobs.poll().run();
                busy = false;
            }
            scheduler.await(() -> !jobs.isEmpty(), Scheduler.FOREVER);
        }
    }
}
