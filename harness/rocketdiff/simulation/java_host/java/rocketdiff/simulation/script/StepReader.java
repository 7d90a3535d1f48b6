package rocketdiff.simulation.script;

import java.util.List;
import java.util.Map;
import rocketdiff.simulation.world.Failure;

/** Makes steps of what is written; a step is an object of one member. */
final class StepReader {
    private StepReader() {
    }

    static Step step(Map<?, ?> written) {
        Map.Entry<?, ?> only = written.entrySet().iterator().next();
        Object value = only.getValue();
        String kind = (String) only.getKey();
        if (kind.equals("timeline")) {
            return new Timeline((List<?>) value);
        }
        return action(kind, value, -1);
    }

    /** A step that may also be an entry of a timeline, where the thread stands beside it. */
    static Step action(String kind, Object value, int thread) {
        switch (kind) {
            case "update":
                return StateSteps.update(new Fields(kind, value));
            case "select":
                return new StateSteps.Select(new Fields(kind, value), thread(value, thread));
            case "send":
                return new SendStep(new Fields(kind, value), thread(value, thread));
            case "index":
            case "worst_index":
                return StateSteps.index(new Fields(kind, value), kind.equals("worst_index"));
            case "dump":
                return StateSteps.dump((List<?>) value);
            default:
                return WorldSteps.step(kind, value);
        }
    }

    private static int thread(Object value, int beside) {
        if (beside >= 0) {
            return beside;
        }
        return value instanceof Map ? new Fields("step", value).integer("thread", 0) : 0;
    }

    static Failure unknown(String kind) {
        return new Failure(Failure.SCRIPT, "unknown step " + kind);
    }
}
