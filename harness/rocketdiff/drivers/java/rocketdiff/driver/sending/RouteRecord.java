package rocketdiff.driver.sending;

import rocketdiff.driver.Queue;
import rocketdiff.driver.Record;
import rocketdiff.line.JsonLine;

/** The client's publish list for the topic as it stood when first noticed. */
final class RouteRecord implements Record {
    final int route;
    final Queue[] queues;
    private final long atNs;

    RouteRecord(int route, long atNs, Queue[] queues) {
        this.route = route;
        this.atNs = atNs;
        this.queues = queues;
    }

    @Override
    public void write(StringBuilder out) {
        StringBuilder pairs = new StringBuilder();
        for (Queue queue : queues) {
            JsonLine.quote(pairs.append(pairs.length() == 0 ? "[" : ",["), queue.broker);
            pairs.append(',').append(queue.id).append(']');
        }
        new JsonLine(out, "route").with("route", route).with("at_ns", atNs).raw("queues", "[" + pairs + "]").end();
    }
}
