package rocketdiff.simulation.script;

import java.util.HashSet;
import java.util.Set;
import rocketdiff.simulation.client.Client;
import rocketdiff.simulation.client.Depth;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.ScriptOver;
import rocketdiff.simulation.servers.Network;

/** Runs one script on one release at one depth. */
public final class Interpreter {
    private Interpreter() {
    }

    /** Appends the answers to out; returns the virtual time at the end, or throws the Failure that ended it. */
    public static long run(
        Release release, Depth depth, String name, Script script, boolean traced, StringBuilder out) {
        Scheduler scheduler = new Scheduler(script.seed, script.expiredWaitExtraMs);
        scheduler.enter();
        Client client = null;
        try {
            Network network = new Network(scheduler, script.route);
            client = depth.open(release, scheduler, network, script.settings, script.lookUpBefore);
            Run run = new Run(scheduler, network, client, new Lines(out, name, traced, scheduler));
            beginCounters(run, script);
            scheduler.tape.rewind(script.seed);
            play(run, script);
        } catch (ScriptOver over) {
            scheduler.check();
        } finally {
            end(scheduler, client);
        }
        scheduler.check();
        return scheduler.nowMs();
    }

    private static void play(Run run, Script script) {
        int number = 0;
        for (Step step : script.steps) {
            if (step.thread() == 0) {
                run.scheduler.takeTurn();
            }
            step.run(run, Place.step(number++));
            run.scheduler.check();
        }
        if (!run.asyncSends.isEmpty()) {
            run.scheduler.sleepUntil(run.scheduler.nowMs() + AsyncSends.DRAIN_MS);
            run.asyncSends.giveUp();
        }
    }

    /** start_index: with what each sender's counter of the first publish list it uses begins. */
    private static void beginCounters(Run run, Script script) {
        Set<Integer> begun = new HashSet<>();
        run.scheduler.firstCount = (counter, thread) -> {
            int number = run.senders.number(thread);
            boolean first = number >= 0 && number < script.startIndex.size()
                && counter == run.client.indexCounter() && begun.add(number);
            return first ? (Integer) Math.toIntExact(script.startIndex.get(number)) : null;
        };
    }

    private static void end(Scheduler scheduler, Client client) {
        try {
            if (client != null) {
                client.close();
            }
        } catch (ScriptOver over) {
            // Closing waited; the scheduler ends anyway.
        } finally {
            scheduler.end();
        }
    }
}
