package rocketdiff.simulation.script;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.VirtualThread;

/** The sender threads of a script. Thread 0 is the one that runs the steps; the others are born at their first use. */
final class Senders {
    /** A thread with jobs of its own. */
    private static final class Sender {
        final ArrayDeque<Runnable> jobs = new ArrayDeque<>();
        VirtualThread thread;
    }

    private final Scheduler scheduler;
    private final Map<Integer, Sender> others = new HashMap<>();

    Senders(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    VirtualThread thread(int number) {
        return number == 0 ? scheduler.main() : sender(number).thread;
    }

    /** Which sender a thread is; -1: none. */
    int number(VirtualThread thread) {
        if (thread == scheduler.main()) {
            return 0;
        }
        for (Map.Entry<Integer, Sender> other : others.entrySet()) {
            if (other.getValue().thread == thread) {
                return other.getKey();
            }
        }
        return -1;
    }

    /** Has a thread do something in its turn and waits until it is done; the running thread just does it. */
    void on(int number, Runnable job) {
        if (thread(number) == scheduler.running()) {
            job.run();
        } else {
            boolean[] done = new boolean[1];
            hand(number, () -> {
                job.run();
                done[0] = true;
            });
            scheduler.await(() -> done[0], Scheduler.FOREVER);
        }
    }

    /** Hands a thread other than 0 something to do and goes on. */
    void hand(int number, Runnable job) {
        sender(number).jobs.add(job);
        scheduler.poke();
    }

    private Sender sender(int number) {
        return others.computeIfAbsent(number, any -> {
            Sender sender = new Sender();
            sender.thread = scheduler.spawn("sender-" + number, null, () -> work(sender));
            return sender;
        });
    }

    private void work(Sender sender) {
        while (true) {
            scheduler.await(() -> !sender.jobs.isEmpty(), Scheduler.FOREVER);
            try {
                sender.jobs.peek().run();
            } catch (Failure why) {
                scheduler.fail(why);
            }
            sender.jobs.poll();
        }
    }
}
