package rocketdiff.simulation.scheduler;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;

/**
 * Virtual time for one script: the clock, what is due, and who has the baton.
 *
 * <p>Whoever waits gives the baton on: events run on its real thread until one of them resumes another thread. What
 * wakes a thread (a condition that came true) is itself an event, due now, after all that is due already.
 */
public final class Scheduler {
    /** Java's clock at the start of every script. */
    public static final long EPOCH_MS = 1_700_000_000_000L;
    public static final long FOREVER = Long.MAX_VALUE;
    /** A thread that catches everything and waits again is asked to stop after so many tries to end it, and left behind after twice as many. */
    private static final int MOST_UNWINDINGS = 100;

    private static Scheduler current = new Scheduler(0, 0);

    /** What classes that select draw from, and what all others do. */
    public final Tape tape;
    public final Tape noise = new Tape(0x6E6F697365L);
    /** What a wait that expires lasts longer than asked: 0 or 1 ms. */
    public final long expiredExtraMs;
    /** Whether NettyRemotingClient is real in this script; false: it is an empty shell. */
    public boolean remotingIsReal;
    /** Whether the threads of a consumer's rounds and pulls run. */
    public boolean consumes;
    /** Pools, by their thread's name, whose timed tasks do nothing in this script and so need no thread. */
    public final Set<String> briefPools = new HashSet<>();
    /** The value that a thread's counter (a ThreadLocal of ThreadLocalIndex) begins with; null: the client draws it. */
    public BiFunction<ThreadLocal<?>, VirtualThread, Integer> firstCount = (counter, thread) -> null;

    private final Agenda agenda = new Agenda();
    private final List<Wait> waits = new ArrayList<>();
    private final List<VirtualThread> threads = new ArrayList<>();
    private final VirtualThread main = new VirtualThread(this, "sender-0", null);
    private VirtualThread running = main;
    private boolean acting;
    private boolean lasting;
    private boolean over;
    private Failure failure;

    public Scheduler(long seed, long expiredExtraMs) {
        this.tape = new Tape(seed);
        this.expiredExtraMs = expiredExtraMs;
    }

    /** The scheduler of the script that is running; rewritten code has no other clock. */
    public static Scheduler current() {
        return current;
    }

    /** Makes this the scheduler that rewritten code lives in; the calling thread is sender 0. */
    public void enter() {
        main.adopt();
        current = this;
    }

    public long nowMs() {
        return agenda.nowMs();
    }

    public VirtualThread running() {
        return running;
    }

    public VirtualThread main() {
        return main;
    }

    /** An action at a time; what lies in the past is now. Actions must not wait. */
    public void at(long dueMs, Runnable action) {
        agenda.add(dueMs, action, null);
    }

    public void after(long delayMs, Runnable action) {
        at(nowMs() + delayMs, action);
    }

    /** A new virtual thread that begins now, in its turn. */
    public VirtualThread spawn(String name, Thread face, Runnable body) {
        VirtualThread thread = new VirtualThread(this, name, face);
        threads.add(thread);
        agenda.add(nowMs(), () -> thread.start(body), new Wait(thread, () -> true));
        return thread;
    }

    /** Does what hands a task to a pool that may last long, and so gets a thread of its own. */
    public void letLast(Runnable action) {
        lasting = true;
        action.run();
        lasting = false;
    }

    /** Whether what a pool is handed now may last long. */
    public boolean isLasting() {
        return lasting;
    }

    /** Waits until the condition (which must change nothing) holds or the deadline is there; whether it holds. */
    public boolean await(BooleanSupplier condition, long deadlineMs) {
        if (over) {
            unwind();
        }
        if (condition.getAsBoolean()) {
            return true;
        }
        return deadlineMs > nowMs() && !running.interrupted && pause(condition, deadlineMs);
    }

    /** Lets a time pass; events due then that come later in the order are still to run. */
    public void sleepUntil(long dueMs) {
        await(() -> false, dueMs);
    }

    /** Lets what is due now and was scheduled before go first. */
    public void takeTurn() {
        if (agenda.isDue()) {
            pause(() -> false, nowMs());
        }
    }

    /** Lets everything happen that can happen without time passing. */
    public void settle() {
        poke();
        while (agenda.isDue()) {
            pause(() -> false, nowMs());
            poke();
        }
    }

    /** Resumes a thread at a time if it is waiting then; its condition decides whether it goes on. */
    public void lookAgainAt(long dueMs, VirtualThread thread) {
        agenda.add(dueMs, () -> { }, new Wait(thread, null));
    }

    /** Gives threads whose condition has come true their turn. Rewritten code calls it where it wakes others. */
    public void poke() {
        for (int i = 0; i < waits.size(); i++) {
            Wait wait = waits.get(i);
            if (wait.mayGoOn()) {
                wait.woken = true;
                agenda.add(nowMs(), null, wait);
            }
        }
    }

    /** The script has answered something: it is not stuck. */
    public void answered() {
        agenda.answered();
    }

    public void interrupt(VirtualThread thread) {
        thread.interrupted = true;
        poke();
    }

    /** Ends the script for a reason; every thread unwinds at its next wait. */
    public void fail(Failure why) {
        if (failure == null) {
            failure = why;
        }
        over = true;
    }

    /** The reason why the script cannot go on, thrown; nothing if there is none. */
    public void check() {
        if (failure != null) {
            throw failure;
        }
    }

    /** Unwinds and joins every other thread; to be called by sender 0 when the script has ended. */
    public void end() {
        over = true;
        for (int i = 0; i < threads.size(); i++) {
            VirtualThread thread = threads.get(i);
            if (thread.isStarted() && !thread.ended) {
                handOver(thread);
                main.park();
            }
        }
        running = main;
    }

    boolean isOver() {
        return over;
    }

    void died(VirtualThread thread, Throwable death) {
        fail(new Failure(Failure.HOST, "virtual thread " + thread + " died of " + death, death));
    }

    /** A thread that has ended gives the baton on. */
    void leave() {
        handOver(over ? main : nextThread());
    }

    private boolean pause(BooleanSupplier condition, long deadlineMs) {
        if (acting) {
            fail(new Failure(Failure.HOST, "an event waits, which only a thread can"));
            unwind();
        }
        Wait wait = new Wait(running, condition);
        waits.add(wait);
        if (deadlineMs != FOREVER) {
            agenda.add(deadlineMs, () -> wait.expired = true, wait);
        }
        try {
            do {
                wait.woken = false;
                giveOn(wait.thread);
            } while (!condition.getAsBoolean() && !wait.expired && !wait.thread.interrupted);
        } finally {
            wait.over = true;
            waits.remove(wait);
        }
        return condition.getAsBoolean();
    }

    /** Returns when it is this thread's turn again, now or after a while without the baton. */
    private void giveOn(VirtualThread me) {
        VirtualThread next = nextThread();
        if (next != me) {
            handOver(next);
            me.park();
        }
        if (over) {
            unwind();
        }
    }

    /** Runs events until one resumes a thread. */
    private VirtualThread nextThread() {
        while (!over) {
            poke();
            Event event = agenda.next();
            if (event == null) {
                fail(new Failure(Failure.HOST, "every thread waits for ever: " + waits));
            } else if (agenda.isEndless()) {
                fail(new Failure(Failure.ENDLESS, agenda.toString()));
            } else if (happen(event)) {
                return event.wait.thread;
            }
        }
        return main;
    }

    /** Runs an event; whether it resumes its thread. */
    private boolean happen(Event event) {
        if (event.action != null) {
            act(event.action);
        }
        Wait wait = event.wait;
        return wait != null && !over && (wait.condition != null || isWaiting(wait.thread));
    }

    /** Actions are the host's; what one of them throws must not surface in whatever code happens to hold the baton. */
    private void act(Runnable action) {
        acting = true;
        try {
            action.run();
        } catch (Failure why) {
            fail(why);
        } catch (ScriptOver known) {
            // Whatever ended the script is known.
        } catch (RuntimeException | Error bug) {
            fail(new Failure(Failure.HOST, "an event failed: " + bug, bug));
        }
        acting = false;
    }

    private boolean isWaiting(VirtualThread thread) {
        for (Wait wait : waits) {
            if (wait.thread == thread) {
                return true;
            }
        }
        return false;
    }

    private void handOver(VirtualThread thread) {
        running = thread;
        thread.unpark();
    }

    private void unwind() {
        if (running != main && ++running.unwound > MOST_UNWINDINGS) {
            if (running.unwound == MOST_UNWINDINGS + 1) {
                running.endless.run();
            } else if (running.unwound > 2 * MOST_UNWINDINGS) {
                VirtualThread lost = running;
                handOver(main);
                lost.park();
            }
        }
        throw new ScriptOver();
    }
}
