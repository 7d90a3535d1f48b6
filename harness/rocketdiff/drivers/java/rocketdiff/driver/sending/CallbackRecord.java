package rocketdiff.driver.sending;

import org.apache.rocketmq.client.producer.SendResult;
import rocketdiff.driver.Failure;
import rocketdiff.driver.Record;
import rocketdiff.line.JsonLine;

/** The callback of an asynchronous send, called once more. */
final class CallbackRecord implements Record {
    private final PlannedSend plan;
    private final long atNs;
    private final String error;
    private final String status;

    CallbackRecord(PlannedSend plan, long atNs, Throwable error, SendResult result) {
        this.plan = plan;
        this.atNs = atNs;
        this.error = Failure.name(error);
        this.status = result == null ? null : result.getSendStatus().name();
    }

    @Override
    public void write(StringBuilder out) {
        new JsonLine(out, "callback").with("send", plan.send).with("thread", plan.thread).with("at_ns", atNs)
            .with("error", error).with("status", status).end();
    }
}
