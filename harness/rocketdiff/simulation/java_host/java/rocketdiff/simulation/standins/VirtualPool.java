package rocketdiff.simulation.standins;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** What `new ThreadPoolExecutor` makes in rewritten code: one virtual thread; the queue's capacity is of no account. */
public class VirtualPool extends ThreadPoolExecutor {
    private final PoolWorker worker;

    public VirtualPool(int core, int most, long keep, TimeUnit unit, BlockingQueue<Runnable> queue) {
        super(core, most, keep, unit, queue);
        worker = new PoolWorker(getThreadFactory());
    }

    public VirtualPool(
        int core, int most, long keep, TimeUnit unit, BlockingQueue<Runnable> queue, ThreadFactory factory) {
        super(core, most, keep, unit, queue, factory);
        worker = new PoolWorker(factory);
    }

    public VirtualPool(
        int core, int most, long keep, TimeUnit unit, BlockingQueue<Runnable> queue, RejectedExecutionHandler handler) {
        super(core, most, keep, unit, queue, handler);
        worker = new PoolWorker(getThreadFactory());
    }

    public VirtualPool(int core, int most, long keep, TimeUnit unit, BlockingQueue<Runnable> queue,
        ThreadFactory factory, RejectedExecutionHandler handler) {
        super(core, most, keep, unit, queue, factory, handler);
        worker = new PoolWorker(factory);
    }

    @Override
    public void execute(Runnable task) {
        worker.execute(task);
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
