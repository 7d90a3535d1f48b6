package rocketdiff.simulation.standins;

import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.TimeUnit;
import rocketdiff.simulation.scheduler.Scheduler;

/** A task with a time, once or again and again. */
final class DueTask<V> extends FutureTask<V> implements RunnableScheduledFuture<V> {
    long dueMs;
    long order;
    private final PoolWorker worker;
    /** 0: once; more: fixed rate; less: fixed delay. */
    private final long periodMs;

    DueTask(PoolWorker worker, Callable<V> task, long delay, TimeUnit unit) {
        super(task);
        this.worker = worker;
        this.periodMs = 0;
        this.dueMs = dueMs(delay, unit);
    }

    DueTask(PoolWorker worker, Runnable task, long delay, long period, TimeUnit unit) {
        super(task, null);
        this.worker = worker;
        this.periodMs = unit.toMillis(period);
        this.dueMs = dueMs(delay, unit);
    }

    private static long dueMs(long delay, TimeUnit unit) {
        return Scheduler.current().nowMs() + Math.max(0, unit.toMillis(delay));
    }

    @Override
    public void run() {
        if (periodMs == 0) {
            super.run();
        } else if (runAndReset()) {
            dueMs = periodMs > 0 ? dueMs + periodMs : Scheduler.current().nowMs() - periodMs;
            if (!worker.isShut()) {
                worker.schedule(this);
            }
        }
    }

    boolean endsWithShutdown() {
        return periodMs != 0;
    }

    @Override
    public boolean cancel(boolean mayInterrupt) {
        worker.cancel(this);
        return super.cancel(mayInterrupt);
    }

    @Override
    public boolean isPeriodic() {
        return periodMs != 0;
    }

    @Override
    public long getDelay(TimeUnit unit) {
        return unit.convert(dueMs - Scheduler.current().nowMs(), TimeUnit.MILLISECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
        DueTask<?> task = (DueTask<?>) other;
        return dueMs != task.dueMs ? Long.compare(dueMs, task.dueMs) : Long.compare(order, task.order);
    }
}
