package rocketdiff.simulation.script;

import java.util.List;
import rocketdiff.simulation.consuming.Processing;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.ScriptOver;

/** The steps of one queue's messages. */
final class ProcessQueueSteps {
    private ProcessQueueSteps() {
    }

    /** The step of this kind; null: none of these. */
    static Step step(String kind, Fields fields) {
        switch (kind) {
            case "put":
                List<?> put = fields.list("offsets");
                int bytes = fields.integer("bytes", 1);
                return answered(kind, queue -> "{\"dispatch\": " + queue.put(put, bytes) + '}');
            case "remove":
                List<?> removed = fields.list("offsets");
                return answered(kind, queue -> queue.remove(removed));
            case "take":
                int count = fields.integer("count", 1);
                return answered(kind, queue -> queue.take(count));
            case "commit":
                return answered(kind, Processing::commit);
            case "rollback":
                return silent(kind, Processing::rollback);
            case "consume_again":
                List<?> again = fields.list("offsets");
                return silent(kind, queue -> queue.consumeAgain(again));
            case "pulled":
                return silent(kind, Processing::pulled);
            default:
                return null;
        }
    }

    private interface Question {
        Object ask(Processing queue) throws Throwable;
    }

    private interface Change {
        void make(Processing queue);
    }

    private static Step answered(String kind, Question question) {
        return (run, place) -> {
            StringBuilder out = run.lines.begin(place, kind);
            try {
                out.append(question.ask((Processing) run.client));
            } catch (Failure | ScriptOver hostEnds) {
                throw hostEnds;
            } catch (Throwable thrown) {
                out.append(ConsumingSteps.exception(thrown));
            }
            run.lines.end(run.client, run.scheduler.main());
        };
    }

    private static Step silent(String kind, Change change) {
        return (run, place) -> {
            change.make((Processing) run.client);
            run.lines.changed(place, kind, run.client, run.scheduler.main());
        };
    }
}
