package rocketdiff.simulation.script;

import rocketdiff.simulation.world.Failure;

/** Makes steps of what is written; {@code do} says what is done, and what it takes stands beside it. */
final class StepReader {
    private StepReader() {
    }

    static Step step(Object written) {
        Fields fields = new Fields("step", written);
        String kind = fields.text("do");
        switch (kind) {
            case "timeline":
                return new Timeline(fields.list("entries"));
            case "update":
                return StateSteps.update(fields);
            case "select":
                return new StateSteps.Select(fields);
            case "send":
                return new SendStep(fields);
            case "index":
            case "worst_index":
                return StateSteps.index(fields, kind.equals("worst_index"));
            case "dump":
                return StateSteps.dump(fields.list("parts"));
            default:
                return WorldSteps.step(kind, fields);
        }
    }

    static Failure unknown(String kind) {
        return new Failure(Failure.SCRIPT, "unknown step " + kind);
    }
}
