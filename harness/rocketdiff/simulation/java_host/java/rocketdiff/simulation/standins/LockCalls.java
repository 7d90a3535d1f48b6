package rocketdiff.simulation.standins;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import rocketdiff.simulation.scheduler.Scheduler;

/** Locks stay the JDK's (each virtual thread has a real one that owns them); waiting for one is virtual. */
@StandsFor(Lock.class)
public final class LockCalls {
    private LockCalls() {
    }

    public static void lock(Lock lock) {
        while (!lock.tryLock()) {
            Scheduler.current().await(() -> mayBeFree(lock), Scheduler.FOREVER);
        }
    }

    public static void lockInterruptibly(Lock lock) throws InterruptedException {
        while (!lock.tryLock()) {
            Waits.until(() -> mayBeFree(lock));
        }
    }

    public static boolean tryLock(Lock lock, long time, TimeUnit unit) throws InterruptedException {
        if (lock.tryLock()) {
            return true;
        }
        long deadlineMs = Waits.deadlineMs(time, unit);
        while (Scheduler.current().await(() -> mayBeFree(lock), deadlineMs)) {
            if (lock.tryLock()) {
                return true;
            }
        }
        Waits.refuseInterrupt();
        return false;
    }

    public static void unlock(Lock lock) {
        lock.unlock();
        Scheduler.current().poke();
    }

    private static boolean mayBeFree(Lock lock) {
        if (lock instanceof ReentrantLock) {
            return !((ReentrantLock) lock).isLocked();
        }
        // Read and write locks do not tell; to its owner, who may look on behalf of others, one seems free.
        boolean free = lock.tryLock();
        if (free) {
            lock.unlock();
        }
        return free;
    }
}
