package rocketdiff.simulation.standins;

/** Object's wait and notify. */
@StandsFor(Object.class)
public final class MonitorCalls {
    private MonitorCalls() {
    }

    public static void wait(Object object) throws InterruptedException {
        Monitors.await(object, 0);
    }

    public static void wait(Object object, long ms) throws InterruptedException {
        Monitors.await(object, ms);
    }

    public static void notify(Object object) {
        Monitors.notifyOne(object);
    }

    public static void notifyAll(Object object) {
        Monitors.notifyAll(object);
    }
}
