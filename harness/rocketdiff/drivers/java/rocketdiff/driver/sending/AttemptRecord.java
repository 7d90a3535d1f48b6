package rocketdiff.driver.sending;

import rocketdiff.driver.Record;
import rocketdiff.line.JsonLine;

/** One request of a send to one broker. */
final class AttemptRecord implements Record {
    private final int send;
    private final int thread;
    private final int attempt;
    private final String broker;
    private final int queueId;
    private final long startNs;
    private final long endNs;
    private final String error;
    private final Integer code;
    private final String status;
    private final Integer chooser;

    AttemptRecord(OpenAttempt open, long endNs, String error, Integer code, String status) {
        this(open, endNs, error, code, status, null);
    }

    AttemptRecord(OpenAttempt open, long endNs, String error, Integer code, String status, Integer chooser) {
        this.send = open.send;
        this.thread = open.thread;
        this.attempt = open.attempt;
        this.broker = open.broker;
        this.queueId = open.queueId;
        this.startNs = open.startNs;
        this.endNs = endNs;
        this.error = error;
        this.code = code;
        this.status = status;
        this.chooser = chooser;
    }

    @Override
    public void write(StringBuilder out) {
        new JsonLine(out, "attempt").with("send", send).with("thread", thread).with("attempt", attempt)
            .with("broker", broker).with("queue_id", queueId).with("start_ns", startNs).with("end_ns", endNs)
            .with("error", error).with("code", code).with("status", status).with("chooser", chooser).end();
    }
}
