package rocketdiff.simulation.servers;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import rocketdiff.simulation.scheduler.Failure;

/** One scripted answer of a server: a response code (0: success) after a latency, or a fault. */
public final class Answer {
    public static final Answer AT_ONCE = new Answer(0, 0, null);

    public final long latencyMs;
    public final int code;
    public final Fault fault;

    private Answer(long latencyMs, int code, Fault fault) {
        this.latencyMs = latencyMs;
        this.code = code;
        this.fault = fault;
    }

    /** The answers of a script's `answers`: one, or a list to be taken in turn. */
    public static List<Answer> list(Object written) {
        List<Answer> answers = new ArrayList<>();
        if (written instanceof List) {
            for (Object item : (List<?>) written) {
                answers.add(one(item));
            }
        } else {
            answers.add(one(written));
        }
        return answers;
    }

    private static Answer one(Object written) {
        if (written instanceof Long) {
            return new Answer((Long) written, 0, null);
        }
        if (written instanceof Map) {
            Map<?, ?> members = (Map<?, ?>) written;
            Object latency = members.get("latency_ms");
            Object code = members.containsKey("code") ? members.get("code") : members.get("status");
            return new Answer(latency == null ? 0 : (Long) latency, code == null ? 0 : Codes.number(code), null);
        }
        for (Fault fault : Fault.values()) {
            if (fault.name().toLowerCase(Locale.ROOT).equals(written)) {
                return new Answer(0, 0, fault);
            }
        }
        if (!(written instanceof String)) {
            throw new Failure(Failure.SCRIPT, "not an answer: " + written);
        }
        return new Answer(0, Codes.number(written), null);
    }
}
