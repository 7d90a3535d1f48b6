package rocketdiff.simulation.standins;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import rocketdiff.simulation.scheduler.Scheduler;

/** Latches stay the JDK's; only waiting for them is virtual. */
@StandsFor(CountDownLatch.class)
public final class LatchCalls {
    private LatchCalls() {
    }

    public static void await(CountDownLatch latch) throws InterruptedException {
        Waits.until(() -> latch.getCount() == 0);
    }

    public static boolean await(CountDownLatch latch, long time, TimeUnit unit) throws InterruptedException {
        return Waits.until(() -> latch.getCount() == 0, time, unit);
    }

    public static void countDown(CountDownLatch latch) {
        latch.countDown();
        Scheduler.current().poke();
    }
}
