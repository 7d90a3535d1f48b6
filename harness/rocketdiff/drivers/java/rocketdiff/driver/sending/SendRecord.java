package rocketdiff.driver.sending;

import org.apache.rocketmq.client.producer.SendResult;
import rocketdiff.driver.Failure;
import rocketdiff.driver.Queue;
import rocketdiff.driver.Record;
import rocketdiff.line.JsonLine;

/** One call by the application, from entry to return, or to its first callback. */
final class SendRecord implements Record {
    private final PlannedSend plan;
    private final long startNs;
    private final long endNs;
    private final Throwable error;
    private final String errorName;
    private final SendResult result;
    private final Queue queue;
    private final int route;
    private final int routeAfter;
    private Long returnedNs;

    SendRecord(PlannedSend plan, long startNs, long endNs, SendResult result, Throwable error, int route,
            int routeAfter) {
        this(plan, startNs, endNs, result, error, Failure.name(error), route, routeAfter);
    }

    SendRecord(PlannedSend plan, long startNs, long endNs, SendResult result, Throwable error, String errorName,
            int route, int routeAfter) {
        this.plan = plan;
        this.startNs = startNs;
        this.endNs = endNs;
        this.result = result;
        this.error = error;
        this.errorName = errorName;
        this.route = route;
        this.routeAfter = routeAfter;
        boolean hasQueue = result != null && result.getMessageQueue() != null;
        this.queue = hasQueue ? new Queue(result.getMessageQueue()) : null;
    }

    /** The same of an asynchronous call; before it is put. */
    SendRecord returnedAt(long nowNs) {
        this.returnedNs = nowNs;
        return this;
    }

    @Override
    public void write(StringBuilder out) {
        JsonLine line = new JsonLine(out, "send").with("send", plan.send).with("thread", plan.thread)
            .with("start_ns", startNs).with("end_ns", endNs);
        line.with("error", errorName);
        if (error != null) {
            line.with("cause", Failure.name(error.getCause())).with("code", Failure.code(error))
                .with("message", Failure.message(error));
        }
        if (result != null) {
            line.with("status", result.getSendStatus().name()).with("queue_offset", result.getQueueOffset());
        }
        if (queue != null) {
            line.with("broker", queue.broker).with("queue_id", queue.id);
        }
        line.with("route", route).with("route_after", routeAfter).with("returned_ns", returnedNs).end();
    }
}
