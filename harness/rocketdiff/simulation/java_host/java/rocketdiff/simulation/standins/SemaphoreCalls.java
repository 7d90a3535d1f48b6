package rocketdiff.simulation.standins;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import rocketdiff.simulation.scheduler.Scheduler;

/** Semaphores stay the JDK's; waiting for permits is virtual. */
@StandsFor(Semaphore.class)
public final class SemaphoreCalls {
    private SemaphoreCalls() {
    }

    public static void acquire(Semaphore semaphore) throws InterruptedException {
        acquire(semaphore, 1);
    }

    public static void acquire(Semaphore semaphore, int permits) throws InterruptedException {
        while (!semaphore.tryAcquire(permits)) {
            Waits.until(() -> semaphore.availablePermits() >= permits);
        }
    }

    public static boolean tryAcquire(Semaphore semaphore, long time, TimeUnit unit) throws InterruptedException {
        return tryAcquire(semaphore, 1, time, unit);
    }

    public static boolean tryAcquire(Semaphore semaphore, int permits, long time, TimeUnit unit)
        throws InterruptedException {
        if (semaphore.tryAcquire(permits)) {
            return true;
        }
        long deadlineMs = Waits.deadlineMs(time, unit);
        while (Scheduler.current().await(() -> semaphore.availablePermits() >= permits, deadlineMs)) {
            if (semaphore.tryAcquire(permits)) {
                return true;
            }
        }
        Waits.refuseInterrupt();
        return false;
    }

    public static void release(Semaphore semaphore) {
        release(semaphore, 1);
    }

    public static void release(Semaphore semaphore, int permits) {
        semaphore.release(permits);
        Scheduler.current().poke();
    }
}
