package rocketdiff.simulation.standins;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** Pools made by the JDK's factory: virtual ones, of one thread each. */
@StandsFor(Executors.class)
public final class ExecutorsCalls {
    private ExecutorsCalls() {
    }

    public static ThreadFactory defaultThreadFactory() {
        return StandInThread::new;
    }

    public static ExecutorService newFixedThreadPool(int threads, ThreadFactory factory) {
        return new VirtualPool(1, 1, 0, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), factory);
    }

    public static ExecutorService newSingleThreadExecutor(ThreadFactory factory) {
        return newFixedThreadPool(1, factory);
    }

    public static ScheduledExecutorService newScheduledThreadPool(int threads, ThreadFactory factory) {
        return new VirtualScheduledPool(1, factory);
    }

    public static ScheduledExecutorService newSingleThreadScheduledExecutor(ThreadFactory factory) {
        return new VirtualScheduledPool(1, factory);
    }
}
