package rocketdiff.simulation.standins;

import java.util.concurrent.TimeUnit;
import rocketdiff.simulation.scheduler.Scheduler;

/** Threads that rewritten code makes are virtual (StandInThread); here are the calls that no subclass can override. */
@StandsFor(Thread.class)
public final class ThreadCalls {
    private ThreadCalls() {
    }

    public static Thread currentThread() {
        Thread face = Scheduler.current().running().face;
        return face == null ? Thread.currentThread() : face;
    }

    public static void sleep(long ms) throws InterruptedException {
        Scheduler scheduler = Scheduler.current();
        scheduler.sleepUntil(scheduler.nowMs() + ms);
        Waits.refuseInterrupt();
    }

    public static void yield() {
        Scheduler.current().settle();
    }

    public static boolean interrupted() {
        return Scheduler.current().running().takeInterrupt();
    }

    public static boolean isInterrupted(Thread thread) {
        return thread instanceof StandInThread && ((StandInThread) thread).isMarkedInterrupted();
    }

    public static void interrupt(Thread thread) {
        if (thread instanceof StandInThread) {
            thread.interrupt();
        } else {
            Scheduler.current().interrupt(Scheduler.current().running());
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
