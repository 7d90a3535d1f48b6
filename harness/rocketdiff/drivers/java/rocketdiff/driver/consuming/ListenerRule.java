package rocketdiff.driver.consuming;

import java.util.Map;
import rocketdiff.driver.Fields;

/** What the listener does with some of the messages; a pure function of number and reconsume times. */
final class ListenerRule {
    final Outcome outcome;
    final Integer delayLevel;
    final Long suspendMs;
    final Long workMs;
    private final int every;
    private final int offset;
    private final int tries;

    ListenerRule(Map<String, Object> line) {
        this.every = Fields.integer(line, "every");
        this.offset = line.containsKey("offset") ? Fields.integer(line, "offset") : 0;
        this.tries = Fields.integer(line, "tries");
        this.outcome = Outcome.named(Fields.text(line, "outcome"));
        this.delayLevel = line.containsKey("delay_level") ? Integer.valueOf(Fields.integer(line, "delay_level")) : null;
        this.suspendMs = line.containsKey("suspend_ms") ? Long.valueOf(Fields.number(line, "suspend_ms")) : null;
        this.workMs = line.containsKey("work_ms") ? Long.valueOf(Fields.number(line, "work_ms")) : null;
    }

    boolean appliesTo(int send, int reconsumeTimes) {
        return send % every == offset && reconsumeTimes < tries;
    }
}
