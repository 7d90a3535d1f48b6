package rocketdiff.simulation.sending;

import java.lang.reflect.Method;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.json.JsonText;

/** The end of a send as JSON, without its closing brace. */
public final class SendAnswer {
    private SendAnswer() {
    }

    /** A SendResult; null (one-way): no status and no queue. */
    public static void appendResult(StringBuilder out, Send send, Object result, long nowMs) {
        out.append("{\"result\": \"ok\", \"status\": ");
        if (result == null) {
            out.append("null, \"broker\": null, \"queue_id\": null");
        } else {
            SentTo sent = SentTo.of(result);
            JsonText.append(out, sent.status);
            out.append(", \"broker\": ");
            JsonText.append(out, sent.broker);
            out.append(", \"queue_id\": ").append(sent.queueId);
        }
        out.append(", \"elapsed_ms\": ").append(nowMs - send.beganMs);
        appendAttempts(out, send);
    }

    public static void appendException(StringBuilder out, Send send, Throwable thrown, long nowMs) {
        out.append("{\"result\": \"exception\", \"exception\": ");
        JsonText.append(out, thrown.getClass().getSimpleName());
        out.append(", \"code\": ").append(code(thrown));
        if (thrown.getCause() != null) {
            out.append(", \"cause\": ");
            JsonText.append(out, thrown.getCause().getClass().getSimpleName());
        }
        out.append(", \"elapsed_ms\": ").append(nowMs - send.beganMs);
        appendAttempts(out, send);
    }

    /** An async send whose callback was never called. */
    public static void appendPending(StringBuilder out, Send send) {
        out.append("{\"result\": \"pending\"");
        appendAttempts(out, send);
    }

    private static Integer code(Throwable thrown) {
        Method method = Members.methodOrNull(thrown.getClass(), "getResponseCode", 0);
        Integer code = method == null ? null : (Integer) Members.must(method, thrown);
        return code == null || code == -1 ? null : code;
    }

    private static void appendAttempts(StringBuilder out, Send send) {
        out.append(", \"attempts\": [");
        String separator = "";
        for (Attempt attempt : send.attempts) {
            attempt.append(out.append(separator));
            separator = ", ";
        }
        out.append(']');
    }
}
