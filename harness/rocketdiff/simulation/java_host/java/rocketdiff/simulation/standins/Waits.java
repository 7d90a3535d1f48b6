package rocketdiff.simulation.standins;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import rocketdiff.simulation.scheduler.Scheduler;

/** How the JDK's ways of waiting become waits of virtual time. */
final class Waits {
    private Waits() {
    }

    /** For ever; an interrupt ends it. */
    static void until(BooleanSupplier condition) throws InterruptedException {
        Scheduler.current().await(condition, Scheduler.FOREVER);
        refuseInterrupt();
    }

    /** For a time; without time left the condition is only looked at, as in the JDK. Whether it holds. */
    static boolean until(BooleanSupplier condition, long time, TimeUnit unit) throws InterruptedException {
        boolean held = Scheduler.current().await(condition, deadlineMs(time, unit));
        refuseInterrupt();
        return held;
    }

    /** When a wait of this time that begins now expires; 0 ms and less is no wait. */
    static long deadlineMs(long time, TimeUnit unit) {
        Scheduler scheduler = Scheduler.current();
        long ms = unit.toMillis(time);
        if (unit.toNanos(time) > TimeUnit.MILLISECONDS.toNanos(ms)) {
            ms++;
        }
        if (ms <= 0) {
            return scheduler.nowMs();
        }
        long deadline = scheduler.nowMs() + ms + scheduler.expiredExtraMs;
        return deadline < 0 ? Scheduler.FOREVER : deadline;
    }

    static void refuseInterrupt() throws InterruptedException {
        if (Scheduler.current().running().takeInterrupt()) {
            throw new InterruptedException();
        }
    }
}
