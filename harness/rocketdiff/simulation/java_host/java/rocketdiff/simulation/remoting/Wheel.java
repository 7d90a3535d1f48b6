package rocketdiff.simulation.remoting;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.standins.StandInThread;
import rocketdiff.simulation.standins.VirtualScheduledPool;

/**
 * A HashedWheelTimer: what is due within a tick of 100 ms (counted from the first timeout on) happens at its end, and what is due
 * at a tick's very beginning too. So 3000 ms become 3100, and 1000 ms after that become 1100 (seen with the real one).
 */
final class Wheel {
    private static final long TICK_MS = 100;

    private final NettyTypes types;
    private final ScheduledThreadPoolExecutor pool =
        new VirtualScheduledPool(1, task -> new StandInThread(task, "ClientHouseKeepingService"));
    private final long begunMs = Scheduler.current().nowMs();

    Wheel(NettyTypes types) {
        this.types = types;
    }

    void schedule(Object task, long delayMs) {
        long nowMs = Scheduler.current().nowMs() - begunMs;
        long dueMs = ((nowMs + Math.max(0, delayMs)) / TICK_MS + 1) * TICK_MS;
        pool.schedule(() -> NettyTypes.call(types.timerTask, task, (Object) null), dueMs - nowMs, TimeUnit.MILLISECONDS);
    }

    void stop() {
        pool.shutdown();
    }
}
