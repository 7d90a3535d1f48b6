package rocketdiff.simulation.standins;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import rocketdiff.simulation.remoting.NettyRules;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.VirtualThread;

/**
 * The one virtual thread of a pool, whatever the size the client asked for: tasks run in the order in which they were
 * handed in, timed ones when they are due. Born with its first task. Only pulls that wait for their answers, and requests of brokers
 * that last, have a thread each.
 *
 * <p>A pool that lives in a static field outlives its script; the next script finds it empty and alive.
 */
final class PoolWorker {
    private final ThreadFactory factory;
    private final ArrayDeque<Runnable> ready = new ArrayDeque<>();
    private final PriorityQueue<DueTask<?>> later = new PriorityQueue<>();
    private Scheduler scheduler;
    private VirtualThread thread;
    private boolean shut;
    private boolean brief;
    /** Each timed task has a thread of its own, since every one may wait for long. */
    private boolean wide;
    private int busy;
    private long order;

    PoolWorker(ThreadFactory factory) {
        this.factory = factory;
    }

    void execute(Runnable task) {
        renew();
        refuseIfShut();
        if (scheduler.isLasting()) {
            Thread face = factory.newThread(() -> { });
            scheduler.spawn(face.getName(), face, task);
            return;
        }
        ready.add(task);
        beBorn();
        scheduler.poke();
    }

    <V> DueTask<V> schedule(DueTask<V> task) {
        renew();
        refuseIfShut();
        task.order = order++;
        later.add(task);
        beBorn();
        if (brief) {
            scheduler.at(task.dueMs, () -> runBriefly(task));
        } else if (wide) {
            Runnable begin = () -> runBeside(task);
            // The thread that waits for its time hands it on.
            scheduler.at(task.dueMs, task.dueMs > scheduler.nowMs() ? () -> scheduler.after(0, begin) : begin);
        } else if (thread != null) {
            scheduler.lookAgainAt(task.dueMs, thread);
        }
        return task;
    }

    /** A task that never waits is an event: nobody can tell, and a change of real threads is saved. */
    private void runBriefly(DueTask<?> task) {
        if (later.remove(task)) {
            task.run();
        }
    }

    private void runBeside(DueTask<?> task) {
        if (later.remove(task)) {
            busy++;
            Thread face = factory.newThread(() -> { });
            scheduler.spawn(face.getName(), face, () -> {
                try {
                    task.run();
                } finally {
                    busy--;
                }
            });
        }
    }

    void cancel(Runnable task) {
        ready.remove(task);
        later.remove(task);
    }

    void shutdown() {
        renew();
        shut = true;
        later.removeIf(DueTask::endsWithShutdown);
        scheduler.poke();
    }

    List<Runnable> shutdownNow() {
        List<Runnable> left = new ArrayList<>(ready);
        ready.clear();
        later.clear();
        shutdown();
        if (thread != null) {
            scheduler.interrupt(thread);
        }
        return left;
    }

    boolean isShut() {
        renew();
        return shut;
    }

    boolean isTerminated() {
        return isShut() && (wide ? busy == 0 && later.isEmpty() : thread == null || thread.hasEnded());
    }

    boolean awaitTermination(long time, TimeUnit unit) throws InterruptedException {
        return Waits.until(this::isTerminated, time, unit);
    }

    private void renew() {
        if (scheduler != Scheduler.current()) {
            scheduler = Scheduler.current();
            thread = null;
            shut = false;
            ready.clear();
            later.clear();
            busy = 0;
        }
    }

    private void refuseIfShut() {
        if (shut) {
            throw new RejectedExecutionException("the pool is shut down");
        }
    }

    private void beBorn() {
        if (thread == null && !brief && !wide) {
            Thread face = factory.newThread(() -> { });
            brief = NettyRules.isBrief(face.getName()) || scheduler.briefPools.contains(face.getName());
            wide = NettyRules.isWide(face.getName());
            if (!brief && !wide && !NettyRules.neverRuns(face.getName(), Scheduler.current().consumes)) {
                thread = scheduler.spawn(face.getName(), face, this::run);
            }
        }
    }

    private void run() {
        while (!(shut && ready.isEmpty() && later.isEmpty())) {
            Runnable task = next();
            if (task == null) {
                scheduler.await(this::hasWork, Scheduler.FOREVER);
                thread.takeInterrupt();
            } else {
                task.run();
            }
        }
    }

    /** A pool that is shut down still runs what was to run once, later; only periodic tasks end with it. */
    private boolean hasWork() {
        return !ready.isEmpty() || isDue() || shut && later.isEmpty();
    }

    private boolean isDue() {
        return !later.isEmpty() && later.peek().dueMs <= scheduler.nowMs();
    }

    private Runnable next() {
        if (!ready.isEmpty()) {
            return guarded(ready.poll());
        }
        return isDue() ? later.poll() : null;
    }

    /** A task that throws costs a real pool a thread, which it replaces; here the thread simply goes on. */
    private static Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (RuntimeException e) {
                System.err.println("a task of a pool failed: " + e);
            }
        };
    }
}
