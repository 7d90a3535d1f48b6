package rocketdiff.simulation.standins;

import java.util.ArrayDeque;
import java.util.IdentityHashMap;
import java.util.Map;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.VirtualThread;

/**
 * What `synchronized` becomes in rewritten code: a thread that waits while it holds a real monitor would hold up the
 * thread it has given the baton to, for ever.
 */
public final class Monitors {
    private static final Map<Object, Monitor> HELD = new IdentityHashMap<>();
    private static Scheduler scheduler;

    /** One object's owner, and those who wait to be notified. */
    private static final class Monitor {
        VirtualThread owner;
        int depth;
        final ArrayDeque<boolean[]> waiting = new ArrayDeque<>(2);
    }

    private Monitors() {
    }

    public static void enter(Object object) {
        take(object, 1);
    }

    public static void exit(Object object) {
        Monitor monitor = of(object);
        if (--monitor.depth == 0) {
            release(object, monitor);
        }
    }

    /** Gives the monitor up until notified or until the time is over (0: for ever). */
    static void await(Object object, long ms) throws InterruptedException {
        Monitor monitor = of(object);
        int depth = monitor.depth;
        boolean[] notified = new boolean[1];
        monitor.waiting.add(notified);
        release(object, monitor);
        long now = Scheduler.current().nowMs();
        long deadlineMs = ms == 0 ? Scheduler.FOREVER : now + ms + Scheduler.current().expiredExtraMs;
        Scheduler.current().await(() -> notified[0], deadlineMs);
        take(object, depth);
        of(object).waiting.remove(notified);
        Waits.refuseInterrupt();
    }

    static void notifyOne(Object object) {
        boolean[] first = of(object).waiting.poll();
        if (first != null) {
            first[0] = true;
        }
    }

    static void notifyAll(Object object) {
        while (!of(object).waiting.isEmpty()) {
            notifyOne(object);
        }
    }

    private static void take(Object object, int depth) {
        VirtualThread me = Scheduler.current().running();
        Monitor monitor = of(object);
        while (monitor.owner != null && monitor.owner != me) {
            Scheduler.current().await(() -> of(object).owner == null, Scheduler.FOREVER);
            monitor = of(object);
        }
        monitor.owner = me;
        monitor.depth += depth;
    }

    private static void release(Object object, Monitor monitor) {
        monitor.owner = null;
        monitor.depth = 0;
        if (monitor.waiting.isEmpty()) {
            HELD.remove(object);
        }
        Scheduler.current().poke();
    }

    private static Monitor of(Object object) {
        if (scheduler != Scheduler.current()) {
            scheduler = Scheduler.current();
            HELD.clear();
        }
        return HELD.computeIfAbsent(object, any -> new Monitor());
    }
}
