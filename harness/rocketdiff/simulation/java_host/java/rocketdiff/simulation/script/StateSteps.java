package rocketdiff.simulation.script;

import java.util.ArrayList;
import java.util.List;
import rocketdiff.simulation.client.Memory;
import rocketdiff.simulation.stand.CounterLocal;
import rocketdiff.simulation.text.JsonText;
import rocketdiff.simulation.world.Failure;
import rocketdiff.simulation.world.ScriptOver;
import rocketdiff.simulation.world.VirtualThread;

/** Steps about the client's memory: update, select, dump, index and worst_index. */
final class StateSteps {
    private StateSteps() {
    }

    static Step update(Fields fields) {
        String broker = fields.text("broker");
        long latencyMs = fields.number("latency_ms");
        boolean isolation = fields.flag("isolation");
        boolean reachable = fields.flag("reachable", true);
        return (run, place) -> {
            run.client.update(broker, latencyMs, isolation, reachable);
            run.lines.changed(place, "update", run.client.memory(), run.world.main());
        };
    }

    /** A pick, answered with the queue or with the exception. */
    static final class Select implements Step {
        private final String lastBroker;
        private final boolean resetIndex;
        private final int thread;

        Select(Fields fields) {
            lastBroker = fields.textOrNull("last_broker");
            resetIndex = fields.flag("reset_index", false);
            thread = fields.integer("thread", 0);
        }

        @Override
        public int thread() {
            return thread;
        }

        @Override
        public void run(Run run, Place place) {
            run.senders.on(thread, () -> pick(run, place));
        }

        private void pick(Run run, Place place) {
            Memory memory = run.client.memory();
            try {
                Object queue = run.client.select(lastBroker, resetIndex);
                StringBuilder out = run.lines.begin(place, "select").append("{\"broker\": ");
                JsonText.append(out, memory.queueBroker(queue));
                out.append(", \"queue_id\": ").append(memory.queueId(queue)).append('}');
            } catch (Failure | ScriptOver hostEnds) {
                throw hostEnds;
            } catch (Throwable thrown) {
                StringBuilder out = run.lines.begin(place, "select").append("{\"exception\": ");
                JsonText.append(out, thrown.getClass().getSimpleName());
                out.append('}');
            }
            run.lines.end(memory, run.world.running());
        }
    }

    static Step index(Fields fields, boolean worst) {
        int value = (int) fields.number("value");
        int thread = fields.integer("thread", 0);
        String kind = worst ? "worst_index" : "index";
        return (run, place) -> {
            Memory memory = run.client.memory();
            CounterLocal counter = worst ? memory.worstCounter() : memory.indexCounter();
            VirtualThread sender = run.senders.thread(thread);
            counter.setCount(sender, value);
            run.lines.changed(place, kind, memory, sender);
        };
    }

    /** The parts in the order of the contract, whatever order they were asked in. */
    static Step dump(List<?> asked) {
        List<String> parts = new ArrayList<>();
        for (String part : new String[] {"index", "worst_index", "queues", "faults", "clock", "connections"}) {
            if (asked.contains(part)) {
                parts.add(part);
            }
        }
        return (run, place) -> {
            StringBuilder out = run.lines.begin(place, "dump").append('{');
            String separator = "";
            for (String part : parts) {
                append(out.append(separator).append('"').append(part).append("\": "), part, run);
                separator = ", ";
            }
            out.append("}}\n");
        };
    }

    private static void append(StringBuilder out, String part, Run run) {
        Memory memory = run.client.memory();
        switch (part) {
            case "index":
                out.append(memory.index(run.world.main()));
                break;
            case "worst_index":
                out.append(memory.worstIndex(run.world.main()));
                break;
            case "queues":
                memory.appendQueues(out);
                break;
            case "faults":
                memory.appendFaults(out);
                break;
            case "clock":
                out.append("{\"now_ms\": ").append(run.world.nowMs()).append('}');
                break;
            default:
                out.append(run.client.connections());
        }
    }
}
