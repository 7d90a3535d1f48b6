package rocketdiff.driver.consuming;

import java.util.Collection;
import java.util.List;
import org.apache.rocketmq.common.message.MessageQueue;
import rocketdiff.driver.Failure;
import rocketdiff.driver.Queue;
import rocketdiff.driver.RecordSink;
import rocketdiff.line.JsonLine;

/**
 * The records of one member, numbered over all its incarnations.
 *
 * <p>A number is taken and its record put at once, so that records come in the order of their numbers. Nothing is
 * formatted here: the client's own threads only enqueue.
 */
final class Reports {
    private final RecordSink sink;
    private int allocations;
    private int ownedSets;
    private int offsetEvents;
    private int calls;
    private int applies;
    private int openCalls;

    Reports(RecordSink sink) {
        this.sink = sink;
    }

    void joined(int incarnation, long startNs, long endNs, String clientId, Throwable error) {
        sink.put(out -> new JsonLine(out, "joined").with("incarnation", incarnation).with("start_ns", startNs)
            .with("end_ns", endNs).with("client_id", clientId).with("error", Failure.name(error))
            .with("message", Failure.message(error)).end());
    }

    void left(int incarnation, long startNs, long endNs, Throwable error) {
        sink.put(out -> new JsonLine(out, "left").with("incarnation", incarnation).with("start_ns", startNs)
            .with("end_ns", endNs).with("error", Failure.name(error)).end());
    }

    synchronized void allocated(int incarnation, String topic, String strategy, List<String> ids, Queue[] queues,
                                Queue[] result, Throwable error) {
        int number = ++allocations;
        long atNs = System.nanoTime();
        sink.put(out -> new JsonLine(out, "allocated").with("number", number).with("incarnation", incarnation)
            .with("at_ns", atNs).with("topic", topic).with("strategy", strategy).with("ids", ids)
            .raw("queues", json(queues)).raw("result", json(result)).with("error", Failure.name(error)).end());
    }

    /** queues: sorted, of all topics. */
    synchronized void owned(int incarnation, long atNs, Collection<MessageQueue> queues) {
        int number = ++ownedSets;
        StringBuilder json = new StringBuilder("[");
        for (MessageQueue queue : queues) {
            JsonLine.quote(json.append(json.length() == 1 ? "[" : ",["), queue.getTopic());
            JsonLine.quote(json.append(','), queue.getBrokerName());
            json.append(',').append(queue.getQueueId()).append(']');
        }
        String all = json.append(']').toString();
        sink.put(out -> new JsonLine(out, "owned").with("number", number).with("incarnation", incarnation)
            .with("at_ns", atNs).raw("queues", all).end());
    }

    /** value: null for none. */
    synchronized void offset(int incarnation, String what, MessageQueue queue, Long value) {
        int number = ++offsetEvents;
        long atNs = System.nanoTime();
        String topic = queue.getTopic();
        Queue copy = new Queue(queue);
        sink.put(out -> new JsonLine(out, "offset").with("number", number).with("incarnation", incarnation)
            .with("at_ns", atNs).with("what", what).with("topic", topic).with("broker", copy.broker)
            .with("queue_id", copy.id).with("value", value).end());
    }

    /** The number of the call that begins now. */
    synchronized int received(int incarnation, int thread, long atNs, MessageQueue queue, List<SeenMessage> messages) {
        int call = calls++;
        openCalls++;
        String topic = queue.getTopic();
        Queue copy = new Queue(queue);
        sink.put(out -> {
            StringBuilder json = new StringBuilder("[");
            for (SeenMessage message : messages) {
                message.write(json.append(json.length() == 1 ? "" : ","));
            }
            new JsonLine(out, "received").with("call", call).with("incarnation", incarnation).with("thread", thread)
                .with("at_ns", atNs).with("topic", topic).with("broker", copy.broker).with("queue_id", copy.id)
                .raw("messages", json.append(']')).end();
        });
        return call;
    }

    synchronized void consumed(int call, CallEnd end) {
        long atNs = System.nanoTime();
        openCalls--;
        notifyAll();
        sink.put(out -> new JsonLine(out, "consumed").with("call", call).with("at_ns", atNs).with("result", end.result())
            .with("delay_level", end.delayLevel).with("suspend_ms", end.suspendMs).with("ack_index", end.ackIndex).end());
    }

    /** offset: null for none. */
    synchronized void applied(int incarnation, String what, MessageQueue queue, long startNs, long endNs, Long offset,
                              Throwable error) {
        int number = ++applies;
        Queue copy = new Queue(queue);
        sink.put(out -> new JsonLine(out, "applied").with("number", number).with("incarnation", incarnation)
            .with("what", what).with("broker", copy.broker).with("queue_id", copy.id).with("start_ns", startNs)
            .with("end_ns", endNs).with("offset", offset).with("error", Failure.name(error)).end());
    }

    /** Waits until every call has ended; how many there were. */
    synchronized int awaitCalls() throws InterruptedException {
        while (openCalls > 0) {
            wait();
        }
        return calls;
    }

    private static String json(Queue[] queues) {
        StringBuilder pairs = new StringBuilder("[");
        for (Queue queue : queues) {
            JsonLine.quote(pairs.append(pairs.length() == 1 ? "[" : ",["), queue.broker);
            pairs.append(',').append(queue.id).append(']');
        }
        return pairs.append(']').toString();
    }
}
