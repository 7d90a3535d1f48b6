package rocketdiff.driver.sending;

import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.impl.producer.TopicPublishInfo;
import org.apache.rocketmq.common.message.MessageQueue;
import rocketdiff.driver.Queue;
import rocketdiff.driver.RecordSink;

/**
 * Numbers the publish lists a producer has used for one topic, and reports each when first noticed.
 *
 * <p>A client puts a new TopicPublishInfo object into its table when the route changed, so identity tells versions
 * apart for the price of one look-up. Safe for several threads; a record is put before its number is given away.
 */
final class RouteWatch {
    private static final Queue[] NO_QUEUES = {};

    private final Map<String, TopicPublishInfo> table;
    private final String topic;
    private final RecordSink sink;
    private volatile Seen current = new Seen(null, new RouteRecord(0, 0, NO_QUEUES));

    RouteWatch(Map<String, TopicPublishInfo> table, String topic, RecordSink sink) {
        this.table = table;
        this.topic = topic;
        this.sink = sink;
    }

    /** Number of the publish list now in the table; 0 before there is one. */
    int version() {
        TopicPublishInfo info = table.get(topic);
        Seen seen = current;
        return info == seen.info ? seen.record.route : notice(info);
    }

    /** Queues of the version last noticed, in the client's order. */
    Queue[] queues() {
        return current.record.queues;
    }

    private synchronized int notice(TopicPublishInfo info) {
        Seen last = current;
        if (info != last.info) {
            // Before the route arrives, a first send has an empty list in the table: not a version worth telling.
            Queue[] queues = copy(info);
            if (queues.length == 0 && last.record.route == 0) {
                return 0;
            }
            RouteRecord record = new RouteRecord(last.record.route + 1, System.nanoTime(), queues);
            sink.put(record);
            current = new Seen(info, record);
        }
        return current.record.route;
    }

    private static Queue[] copy(TopicPublishInfo info) {
        List<MessageQueue> list = info == null ? null : info.getMessageQueueList();
        if (list == null) {
            return NO_QUEUES;
        }
        Queue[] queues = new Queue[list.size()];
        for (int i = 0; i < queues.length; i++) {
            queues[i] = new Queue(list.get(i));
        }
        return queues;
    }

    /** A list object and the record it was reported in. */
    private static final class Seen {
        final TopicPublishInfo info;
        final RouteRecord record;

        Seen(TopicPublishInfo info, RouteRecord record) {
            this.info = info;
            this.record = record;
        }
    }
}
