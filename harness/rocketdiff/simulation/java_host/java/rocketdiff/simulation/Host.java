package rocketdiff.simulation;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import rocketdiff.json.JsonReader;
import rocketdiff.simulation.client.Depth;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.consuming.AllocationDepth;
import rocketdiff.simulation.consuming.ProcessQueueDepth;
import rocketdiff.simulation.consuming.RebalanceDepth;
import rocketdiff.simulation.remoting.ConsumerDepth;
import rocketdiff.simulation.remoting.RemotingDepth;
import rocketdiff.simulation.rewriting.JarShelf;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.script.Interpreter;
import rocketdiff.simulation.script.Script;
import rocketdiff.simulation.sending.SelectionDepth;
import rocketdiff.simulation.sending.SendLoopDepth;

/** The releases that this program has been told of, loaded at first use, and the depths it can run them at. */
final class Host {
    private static final String SELECTING = "{\"route\": {\"a\": 1}, \"steps\": [{\"do\": \"update\", \"broker\": \"a\","
        + " \"latency_ms\": 1, \"isolation\": true}, {\"do\": \"select\"}]}";
    private static final String ALLOCATING = "{\"route\": {\"a\": 1}, \"steps\": [{\"do\": \"allocate\","
        + " \"strategy\": \"AVG\", \"ids\": [\"c\"], \"own\": \"c\"}]}";
    private static final String PROCESSING = "{\"route\": {\"a\": 1}, \"steps\": [{\"do\": \"put\","
        + " \"offsets\": [0]}, {\"do\": \"take\"}, {\"do\": \"commit\"}]}";
    private static final String REBALANCING = "{\"route\": {\"a\": 1}, \"steps\": [{\"do\": \"members\","
        + " \"ids\": [\"own\"]}, {\"do\": \"rounds\", \"ms\": 21000}, {\"do\": \"members\", \"ids\": []}]}";
    private static final String CONSUMING = "{\"route\": {\"a\": 1}, \"steps\": [{\"do\": \"members\", \"ids\": [\"own\"]},"
        + " {\"do\": \"store\", \"broker\": \"a\", \"queue\": 0}, {\"do\": \"consumer\"}, {\"do\": \"rounds\", \"ms\": 21000},"
        + " {\"do\": \"store\", \"broker\": \"a\", \"queue\": 0}, {\"do\": \"rounds\", \"ms\": 1000}, {\"do\": \"leave\"}]}";
    private static final String SENDING = "{\"route\": {\"a\": 1}, \"steps\": [{\"do\": \"send\", \"mode\": \"sync\"}]}";

    private final JarShelf shelf = new JarShelf();
    private final Map<String, List<String>> classPaths = new HashMap<>();
    private final Map<String, Release> loaded = new HashMap<>();
    private final Map<String, Depth> depths = new HashMap<>();
    private final Map<String, String> trifles = new HashMap<>();
    private final Set<String> warm = new HashSet<>();

    Host() {
        depths.put("selection", new SelectionDepth());
        depths.put("send-loop", new SendLoopDepth());
        depths.put("remoting", new RemotingDepth());
        depths.put("allocation", new AllocationDepth());
        trifles.put("selection", SELECTING);
        depths.put("process-queue", new ProcessQueueDepth());
        depths.put("rebalance", new RebalanceDepth());
        depths.put("consumer", new ConsumerDepth());
        trifles.put("consumer", CONSUMING);
        trifles.put("allocation", ALLOCATING);
        trifles.put("process-queue", PROCESSING);
        trifles.put("rebalance", REBALANCING);
    }

    void know(String release, List<String> classPath) {
        if (classPaths.put(release, classPath) != null) {
            loaded.remove(release);
            warm.clear();
        }
    }

    /** Appends the answers; the virtual time at the end. */
    long run(String release, String depth, String name, Script script, boolean traced, StringBuilder out) {
        // A client that only selects has no route table of its own to poll into.
        boolean polls = depth.equals("selection") && script.polls();
        Depth run = depth(polls ? "send-loop" : depth);
        Release on = release(release);
        if (warm.add(release + " " + run.getClass())) {
            warmUp(on, run, trifles.getOrDefault(depth, SENDING));
        }
        return Interpreter.run(on, run, name, script, traced, out);
    }

    /** Runs something once, so that no script's time or chance meets the initialisation of a class. */
    @SuppressWarnings("unchecked")
    private static void warmUp(Release release, Depth depth, String script) {
        Script trifle = new Script((Map<String, Object>) JsonReader.read(script));
        try {
            Interpreter.run(release, depth, "warm-up", trifle, true, new StringBuilder());
        } catch (Failure again) {
            // The script that comes next will meet it too, and say so.
        }
    }

    private Depth depth(String name) {
        Depth depth = depths.get(name);
        if (depth == null) {
            throw new Failure(Failure.SCRIPT, "unknown depth " + name);
        }
        return depth;
    }

    private Release release(String name) {
        Release release = loaded.get(name);
        if (release == null) {
            List<String> classPath = classPaths.get(name);
            if (classPath == null) {
                throw new Failure(Failure.HOST, "nobody told the class path of release " + name);
            }
            try {
                release = new Release(name, classPath, shelf);
            } catch (IOException e) {
                throw new Failure(Failure.HOST, "cannot read the class path of " + name + ": " + e, e);
            }
            loaded.put(name, release);
        }
        return release;
    }
}
