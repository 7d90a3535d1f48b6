package rocketdiff.simulation.standins;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** What `new ScheduledThreadPoolExecutor` makes in rewritten code: one virtual thread. */
public class VirtualScheduledPool extends ScheduledThreadPoolExecutor {
    private final PoolWorker worker;

    public VirtualScheduledPool(int core) {
        super(core);
        worker = new PoolWorker(getThreadFactory());
    }

    public VirtualScheduledPool(int core, ThreadFactory factory) {
        super(core, factory);
        worker = new PoolWorker(factory);
    }

    public VirtualScheduledPool(int core, ThreadFactory factory, RejectedExecutionHandler handler) {
        super(core, factory, handler);
        worker = new PoolWorker(factory);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        return schedule(Executors.callable(task), delay, unit);
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
        return worker.schedule(new DueTask<>(worker, task, delay, unit));
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long delay, long period, TimeUnit unit) {
        return worker.schedule(new DueTask<Void>(worker, task, delay, period, unit));
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long delay, long pause, TimeUnit unit) {
        return worker.schedule(new DueTask<Void>(worker, task, delay, -pause, unit));
    }

    @Override
    public void execute(Runnable task) {
        schedule(task, 0, TimeUnit.MILLISECONDS);
    }

    @Override
    public Future<?> submit(Runnable task) {
        return schedule(task, 0, TimeUnit.MILLISECONDS);
    }

    @Override
    public <V> Future<V> submit(Callable<V> task) {
        return schedule(task, 0, TimeUnit.MILLISECONDS);
    }

    @Override
    public void shutdown() {
        worker.shutdown();
    }

    @Override
    public List<Runnable> shutdownNow() {
        return worker.shutdownNow();
    }

    @Override
    public boolean isShutdown() {
        return worker.isShut();
    }

    @Override
    public boolean isTerminated() {
        return worker.isTerminated();
    }

    @Override
    public boolean awaitTermination(long time, TimeUnit unit) throws InterruptedException {
        return worker.awaitTermination(time, unit);
    }
}
