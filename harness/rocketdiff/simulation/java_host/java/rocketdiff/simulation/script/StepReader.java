package rocketdiff.simulation.script;

import rocketdiff.simulation.scheduler.Failure;

/** Makes steps of what is written; {@code do} says what is done, and what it takes stands beside it. */
final class StepReader {
    private StepReader() {
    }

    static Step step(Object written) {
        Fields fields = new Fields("step", written);
        String kind = fields.text("do");
        if (kind.equals("timeline")) {
            return new Timeline(fields.list("entries"));
        }
        Step ofRole = SendingSteps.step(kind, fields);
        ofRole = ofRole == null ? ConsumingSteps.step(kind, fields) : ofRole;
        return ofRole == null ? EnvironmentSteps.step(kind, fields) : ofRole;
    }

    static Failure unknown(String kind) {
        return new Failure(Failure.SCRIPT, "unknown step " + kind);
    }
}
