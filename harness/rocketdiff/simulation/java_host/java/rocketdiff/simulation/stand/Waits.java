package rocketdiff.simulation.stand;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import rocketdiff.simulation.world.World;

/** How the JDK's ways of waiting become waits of virtual time. */
final class Waits {
    private Waits() {
    }

    /** For ever; an interrupt ends it. */
    static void until(BooleanSupplier condition) throws InterruptedException {
        World.current().await(condition, World.FOREVER);
        refuseInterrupt();
    }

    /** For a time; without time left the condition is only looked at, as in the JDK. Whether it holds. */
    static boolean until(BooleanSupplier condition, long time, TimeUnit unit) throws InterruptedException {
        boolean held = World.current().await(condition, deadlineMs(time, unit));
        refuseInterrupt();
        return held;
    }

    /** When a wait of this time that begins now expires; 0 ms and less is no wait. */
    static long deadlineMs(long time, TimeUnit unit) {
        World world = World.current();
        long ms = unit.toMillis(time);
        if (unit.toNanos(time) > TimeUnit.MILLISECONDS.toNanos(ms)) {
            ms++;
        }
        if (ms <= 0) {
            return world.nowMs();
        }
        long deadline = world.nowMs() + ms + world.expiredExtraMs;
        return deadline < 0 ? World.FOREVER : deadline;
    }

    static void refuseInterrupt() throws InterruptedException {
        if (World.current().running().takeInterrupt()) {
            throw new InterruptedException();
        }
    }
}
