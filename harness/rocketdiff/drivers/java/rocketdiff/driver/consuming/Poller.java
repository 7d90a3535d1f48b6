package rocketdiff.driver.consuming;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import rocketdiff.driver.Fields;

/**
 * The application of a lite pull consumer: one thread polls, and works on what it got before it polls again.
 *
 * <p>The messages of a poll are of one queue, whose broker is known by the address in them: not every release names it.
 */
final class Poller extends Thread {
    private final LitePullClient consumer;
    private final ConsumingSetup setup;
    private final ScriptedListener application;
    private final int incarnation;
    private final Reports reports;
    private final Queue<Map<String, Object>> orders = new ConcurrentLinkedQueue<>();
    private volatile boolean isOver;

    Poller(LitePullClient consumer, ConsumingSetup setup, ScriptedListener application, int incarnation, Reports reports) {
        super("poller");
        setDaemon(true);
        this.consumer = consumer;
        this.setup = setup;
        this.application = application;
        this.incarnation = incarnation;
        this.reports = reports;
    }

    @Override
    public void run() {
        while (!isOver) {
            for (Map<String, Object> order = orders.poll(); order != null; order = orders.poll()) {
                call(order);
            }
            List<MessageExt> messages = consumer.poll();
            if (!messages.isEmpty()) {
                MessageExt first = messages.get(0);
                String broker = setup.brokerAt(SeenMessage.hostAndPort(first.getStoreHost()));
                application.work(messages, new MessageQueue(first.getTopic(), broker, first.getQueueId()));
                if (setup.commitsItself()) {
                    consumer.commit();
                }
            }
        }
    }

    /** Takes a call that is to come before the next poll. */
    void apply(Map<String, Object> order) {
        orders.add(order);
    }

    private void call(Map<String, Object> order) {
        String what = Fields.text(order, "what");
        MessageQueue queue = new MessageQueue(setup.topic, Fields.text(order, "broker"), Fields.integer(order, "queue_id"));
        Long offset = order.containsKey("offset") ? (Long) Fields.number(order, "offset") : null;
        long startNs = System.nanoTime();
        Throwable error = null;
        try {
            consumer.call(what, queue, offset);
        } catch (MQClientException | RuntimeException e) {
            error = e;
        }
        reports.applied(incarnation, what, queue, startNs, System.nanoTime(), offset, error);
    }

    /** Ends the last poll and the work on it. */
    void end() throws InterruptedException {
        isOver = true;
        join();
    }
}
