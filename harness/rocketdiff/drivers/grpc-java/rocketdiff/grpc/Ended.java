package rocketdiff.grpc;

import org.apache.rocketmq.client.apis.ClientException;
import org.apache.rocketmq.shaded.io.grpc.StatusRuntimeException;
import rocketdiff.line.JsonLine;

/** How a send ended, in the protocol's neutral words for errors. */
final class Ended {
    private static final int MAX_MESSAGE_CHARACTERS = 500;
    private Ended() {
    }

    static JsonLine line(long send, int thread, long beginNs, long endNs, Throwable error) {
        JsonLine line = new JsonLine("send").with("send", send).with("thread", thread).with("start_ns", beginNs).with("end_ns", endNs);
        if (error == null) {
            return line.with("status", "SEND_OK");
        }
        Throwable deepest = error;
        while (deepest.getCause() != null) {
            deepest = deepest.getCause();
        }
        String message = String.valueOf(error.getMessage());
        line.with("error", word(deepest));
        line.with("message", message.substring(0, Math.min(message.length(), MAX_MESSAGE_CHARACTERS)));
        return deepest instanceof ClientException ? line.with("code", code((ClientException) deepest)) : line;
    }

    private static String word(Throwable deepest) {
        if (deepest instanceof ClientException) {
            return "broker-code";
        }
        if (!(deepest instanceof StatusRuntimeException)) {
            return "client-refused";
        }
        switch (((StatusRuntimeException) deepest).getStatus().getCode()) {
            case DEADLINE_EXCEEDED:
                return "timeout";
            case UNAVAILABLE:
                return "connection-lost";
            default:
                return "other";
        }
    }

    /** The exception keeps its code in its text alone. */
    private static Long code(ClientException error) {
        java.util.regex.Matcher found = java.util.regex.Pattern.compile("response-code=(\\d+)").matcher(String.valueOf(error.getMessage()));
        return found.find() ? Long.valueOf(found.group(1)) : null;
    }
}
