package rocketdiff.simulation.standins;

import java.util.TimerTask;
import java.util.concurrent.TimeUnit;

/** What Timer is in rewritten code, with those of its methods that RocketMQ calls. */
public final class VirtualTimer {
    private final VirtualScheduledPool pool;

    public VirtualTimer(String name, boolean daemon) {
        pool = new VirtualScheduledPool(1, task -> new StandInThread(task, name));
    }

    public VirtualTimer(String name) {
        this(name, false);
    }

    public void schedule(TimerTask task, long delay) {
        pool.schedule(task, delay, TimeUnit.MILLISECONDS);
    }

    public void schedule(TimerTask task, long delay, long period) {
        pool.scheduleWithFixedDelay(task, delay, period, TimeUnit.MILLISECONDS);
    }

    public void scheduleAtFixedRate(TimerTask task, long delay, long period) {
        pool.scheduleAtFixedRate(task, delay, period, TimeUnit.MILLISECONDS);
    }

    public void cancel() {
        pool.shutdownNow();
    }
}
