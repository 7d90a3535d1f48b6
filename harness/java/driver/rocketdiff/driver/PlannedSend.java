package rocketdiff.driver;

import java.util.Map;

/** One call by the application, as the runner planned it. */
final class PlannedSend {
    final int send;
    final int thread;
    final long dueNs;
    final String kind;
    final int argument;
    final int bodyBytes;

    PlannedSend(int send, int thread, long dueNs, String kind, int argument, int bodyBytes) {
        this.send = send;
        this.thread = thread;
        this.dueNs = dueNs;
        this.kind = kind;
        this.argument = argument;
        this.bodyBytes = bodyBytes;
    }

    static PlannedSend of(Map<String, Object> line) {
        return new PlannedSend(Fields.integer(line, "send"), Fields.integer(line, "thread"),
            Fields.number(line, "due_ns"), Fields.text(line, "kind"), Fields.integer(line, "argument"),
            Fields.integer(line, "body_bytes"));
    }
}
