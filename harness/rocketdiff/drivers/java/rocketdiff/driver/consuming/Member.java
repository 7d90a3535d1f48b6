package rocketdiff.driver.consuming;

import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.exception.MQClientException;

/** One member of the group in all its incarnations; used by one thread. */
final class Member {
    private final ConsumingSetup setup;
    private final Consumers consumers;
    private final ListenerScript script;
    private final MessageReader reader;
    private final Reports reports;
    private final ScriptedListener.Threads threads = new ScriptedListener.Threads();
    private int incarnation;
    private volatile GroupClient consumer;
    private QueueTable queues;
    private Poller poller;

    Member(ConsumingSetup setup, List<ListenerRule> rules, Reports reports) {
        this.setup = setup;
        this.consumers = new Consumers(setup);
        this.script = new ListenerScript(rules, setup.workMs);
        this.reader = new MessageReader(setup);
        this.reports = reports;
    }

    /** Starts a new consumer. One whose start throws is kept: its threads may run, until it leaves. */
    void join() throws MQClientException {
        require(consumer == null, "a join of a member that is not there");
        incarnation++;
        ScriptedListener scripted = new ScriptedListener(incarnation, script, reader, reports, threads);
        GroupClient made;
        if (setup.isLitePull()) {
            LitePullClient polled = consumers.polled(incarnation, reports);
            poller = new Poller(polled, setup, scripted, incarnation, reports);
            made = polled;
        } else {
            made = consumers.member(incarnation, reports, scripted.listener(setup.isOrderly()));
        }
        consumer = made;
        queues = new QueueTable(made, incarnation, reports);
        queues.start();
        long startNs = System.nanoTime();
        Throwable error = null;
        try {
            made.start();
        } catch (MQClientException | RuntimeException e) {
            error = e;
        }
        reports.joined(incarnation, startNs, System.nanoTime(), made.config().buildMQClientId(), error);
        if (poller != null && error == null) {
            poller.start();
        }
    }

    /** Has the application call a method of its consumer before its next poll. */
    void apply(Map<String, Object> order) {
        require(poller != null, "a call of the application of a member that has joined, and polls");
        poller.apply(order);
    }

    /** Shuts the consumer down as an application does. */
    void leave() throws InterruptedException {
        require(consumer != null, "a leave of a member that has joined");
        long startNs = System.nanoTime();
        Throwable error = null;
        if (poller != null) {
            poller.end();
            poller = null;
        }
        try {
            consumer.shutdown();
        } catch (RuntimeException e) {
            error = e;
        }
        long endNs = System.nanoTime();
        if (setup.isLitePull() && error == null) {
            queues.endWithNone();
        } else {
            queues.end();
        }
        consumer = null;
        reports.left(incarnation, startNs, endNs, error);
    }

    void shutdown() {
        GroupClient running = consumer;
        if (running != null) {
            running.shutdown();
        }
    }

    private static void require(boolean condition, String expected) {
        if (!condition) {
            throw new IllegalStateException("expected " + expected);
        }
    }
}
