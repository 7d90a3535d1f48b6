package rocketdiff.simulation.script;

import java.util.HashSet;
import java.util.Set;
import rocketdiff.simulation.client.Client;
import rocketdiff.simulation.client.Depth;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.wire.Network;
import rocketdiff.simulation.world.ScriptOver;
import rocketdiff.simulation.world.World;

/** Runs one script on one release at one depth. */
public final class Interpreter {
    private Interpreter() {
    }

    /** Appends the answers to out; returns the virtual time at the end, or throws the Failure that ended it. */
    public static long run(
        Release release, Depth depth, String name, Script script, boolean traced, StringBuilder out) {
        World world = new World(script.seed, script.expiredWaitExtraMs);
        world.enter();
        Client client = null;
        try {
            Network network = new Network(world, script.route);
            client = depth.open(release, world, network, script.settings, script.lookUpBefore);
            Run run = new Run(world, network, client, new Lines(out, name, traced, world));
            beginCounters(run, script);
            world.tape.rewind(script.seed);
            play(run, script);
        } catch (ScriptOver over) {
            world.check();
        } finally {
            end(world, client);
        }
        world.check();
        return world.nowMs();
    }

    private static void play(Run run, Script script) {
        int number = 0;
        for (Step step : script.steps) {
            if (step.thread() == 0) {
                run.world.takeTurn();
            }
            step.run(run, Place.step(number++));
            run.world.check();
        }
        if (!run.asyncSends.isEmpty()) {
            run.world.sleepUntil(run.world.nowMs() + AsyncSends.DRAIN_MS);
            run.asyncSends.giveUp();
        }
    }

    /** start_index: with what each sender's counter of the first publish list it uses begins. */
    private static void beginCounters(Run run, Script script) {
        Set<Integer> begun = new HashSet<>();
        run.world.firstCount = (counter, thread) -> {
            int number = run.senders.number(thread);
            boolean first = number >= 0 && number < script.startIndex.size()
                && counter == run.client.memory().indexCounter() && begun.add(number);
            return first ? (Integer) Math.toIntExact(script.startIndex.get(number)) : null;
        };
    }

    private static void end(World world, Client client) {
        try {
            if (client != null) {
                client.close();
            }
        } catch (ScriptOver over) {
            // Closing waited; the world ends anyway.
        } finally {
            world.end();
        }
    }
}
