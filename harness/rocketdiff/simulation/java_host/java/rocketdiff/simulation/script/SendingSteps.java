package rocketdiff.simulation.script;

import rocketdiff.simulation.json.JsonText;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.ScriptOver;
import rocketdiff.simulation.scheduler.VirtualThread;
import rocketdiff.simulation.sending.Memory;
import rocketdiff.simulation.standins.CounterLocal;

/** The steps of a producer: sends, and those about what it remembers. */
final class SendingSteps {
    private SendingSteps() {
    }

    /** The step of this kind; null: no producer's. */
    static Step step(String kind, Fields fields) {
        switch (kind) {
            case "update":
                return update(fields);
            case "select":
                return new Select(fields);
            case "send":
                return new SendStep(fields);
            case "index":
            case "worst_index":
                return index(fields, kind.equals("worst_index"));
            default:
                return null;
        }
    }

    private static Step update(Fields fields) {
        String broker = fields.text("broker");
        long latencyMs = fields.number("latency_ms");
        boolean isolation = fields.flag("isolation");
        boolean reachable = fields.flag("reachable", true);
        return (run, place) -> {
            run.producer().update(broker, latencyMs, isolation, reachable);
            run.lines.changed(place, "update", run.client, run.scheduler.main());
        };
    }

    /** A pick, answered with the queue or with the exception. */
    private static final class Select implements Step {
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
            Memory memory = run.producer().memory();
            try {
                Object queue = run.producer().select(lastBroker, resetIndex);
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
            run.lines.end(run.client, run.scheduler.running());
        }
    }

    private static Step index(Fields fields, boolean worst) {
        int value = (int) fields.number("value");
        int thread = fields.integer("thread", 0);
        String kind = worst ? "worst_index" : "index";
        return (run, place) -> {
            Memory memory = run.producer().memory();
            CounterLocal counter = worst ? memory.worstCounter() : memory.indexCounter();
            VirtualThread sender = run.senders.thread(thread);
            counter.setCount(sender, value);
            run.lines.changed(place, kind, run.client, sender);
        };
    }
}
