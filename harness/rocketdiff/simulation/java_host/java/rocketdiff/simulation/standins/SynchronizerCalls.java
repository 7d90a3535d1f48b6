package rocketdiff.simulation.standins;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import rocketdiff.simulation.scheduler.Scheduler;

/** A synchronizer of RocketMQ's own (CountDownLatch2): its rule decides, waiting is virtual. */
@StandsFor(AbstractQueuedSynchronizer.class)
public final class SynchronizerCalls {
    private SynchronizerCalls() {
    }

    public static void acquireSharedInterruptibly(AbstractQueuedSynchronizer sync, int argument)
        throws InterruptedException {
        Waits.until(() -> isShared(sync, argument));
    }

    public static boolean tryAcquireSharedNanos(AbstractQueuedSynchronizer sync, int argument, long nanos)
        throws InterruptedException {
        return Waits.until(() -> isShared(sync, argument), nanos, TimeUnit.NANOSECONDS);
    }

    public static boolean releaseShared(AbstractQueuedSynchronizer sync, int argument) {
        boolean released = sync.releaseShared(argument);
        Scheduler.current().poke();
        return released;
    }

    private static boolean isShared(AbstractQueuedSynchronizer sync, int argument) {
        try {
            Method rule = sync.getClass().getDeclaredMethod("tryAcquireShared", int.class);
            rule.setAccessible(true);
            return (Integer) rule.invoke(sync, argument) >= 0;
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("no rule in " + sync.getClass(), e);
        }
    }
}
