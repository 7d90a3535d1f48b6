package rocketdiff.simulation.stand;

import java.util.concurrent.TimeUnit;
import rocketdiff.simulation.world.World;

/** Threads that rewritten code makes are virtual (StandInThread); here are the calls that no subclass can override. */
@StandsFor(Thread.class)
public final class ThreadCalls {
    private ThreadCalls() {
    }

    public static Thread currentThread() {
        Thread face = World.current().running().face;
        return face == null ? Thread.currentThread() : face;
    }

    public static void sleep(long ms) throws InterruptedException {
        World world = World.current();
        world.sleepUntil(world.nowMs() + ms);
        Waits.refuseInterrupt();
    }

    public static void yield() {
        World.current().settle();
    }

    public static boolean interrupted() {
        return World.current().running().takeInterrupt();
    }

    public static boolean isInterrupted(Thread thread) {
        return thread instanceof StandInThread && ((StandInThread) thread).isMarkedInterrupted();
    }

    public static void interrupt(Thread thread) {
        if (thread instanceof StandInThread) {
            thread.interrupt();
        } else {
            World.current().interrupt(World.current().running());
        }
    }

    public static boolean isAlive(Thread thread) {
        return !(thread instanceof StandInThread) || ((StandInThread) thread).isRunning();
    }

    public static void start(Thread thread) {
        if (!(thread instanceof StandInThread)) {
            Untreated.reached("a thread that no rewritten code made: " + thread);
        }
        thread.start();
    }

    public static void join(Thread thread) throws InterruptedException {
        Waits.until(() -> !isAlive(thread));
    }

    public static void join(Thread thread, long ms) throws InterruptedException {
        if (ms == 0) {
            join(thread);
        } else {
            Waits.until(() -> !isAlive(thread), ms, TimeUnit.MILLISECONDS);
        }
    }
}
