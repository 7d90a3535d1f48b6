package rocketdiff.driver.sending;

import rocketdiff.driver.JsonLine;
import rocketdiff.driver.Queue;
import rocketdiff.driver.Record;

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
        new JsonLine(out, "route").with("route", route).with("at_ns", atNs).withQueues("queues", queues).end();
    }
}
