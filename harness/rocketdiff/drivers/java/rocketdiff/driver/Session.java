package rocketdiff.driver;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.rocketmq.client.producer.DefaultMQProducer;

/** One run: prepare, say ready, wait for go, send, say done. Commands arrive on the reader's thread. */
final class Session extends Thread {
    private final RecordSink sink;
    private final List<PlannedSend> plan = new ArrayList<>();
    private final CountDownLatch told = new CountDownLatch(1);
    private final List<DefaultMQProducer> running = new ArrayList<>();
    private volatile Setup setup;
    private volatile boolean ready;
    private volatile long startNs;

    Session(RecordSink sink) {
        super("session");
        setDaemon(true);
        this.sink = sink;
    }

    void plan(Map<String, Object> line) {
        require(setup == null, "plan lines come before setup");
        plan.add(PlannedSend.of(line));
    }

    void setup(Map<String, Object> line) {
        require(setup == null, "one setup");
        setup = Setup.of(line);
        start();
    }

    void go(Map<String, Object> line) {
        require(ready && told.getCount() == 1, "one go, after ready");
        startNs = Fields.number(line, "start_ns");
        told.countDown();
    }

    @Override
    public void run() {
        String stage = "warm-up";
        try {
            AsyncSends asyncSends = new AsyncSends();
            RequestHook requestHook = isAnyAsync() ? new RequestHook(asyncSends) : null;
            Producers producers = new Producers(setup, asyncSends, requestHook);
            DefaultMQProducer warm = keep(new WarmUp(setup).run(producers));
            stage = "setup";
            DefaultMQProducer measured = keep(producers.start(setup.group, setup.sendTimeoutMs()));
            RouteWatch routes = new RouteWatch(ClientInternals.publishTable(measured), setup.topic, sink);
            ClientInternals.lookUpRoute(measured, setup.topic);
            warm.shutdown();
            ClientInternals.forgetTopic(measured, setup.warmTopic);
            routes.version();
            ready = true;
            sink.put(LifeRecord.ready(System.nanoTime()));
            told.await();
            stage = "sends";
            if (requestHook != null) {
                requestHook.brokersBy(address -> ClientInternals.brokerAt(measured, routes.queues(), address));
            }
            send(measured, routes, asyncSends);
            asyncSends.awaitAll(setup.callbackLimitMs);
            sink.put(LifeRecord.done(plan.size()));
        } catch (Throwable e) {
            e.printStackTrace();
            sink.put(LifeRecord.failed(stage, e));
        }
    }

    /** Ends the producers cleanly; may block for seconds on a paused broker. */
    void shutdown() {
        List<DefaultMQProducer> producers;
        synchronized (running) {
            producers = new ArrayList<>(running);
        }
        for (DefaultMQProducer producer : producers) {
            producer.shutdown();
        }
    }

    private boolean isAnyAsync() {
        for (PlannedSend send : plan) {
            if (send.isAsync()) {
                return true;
            }
        }
        return false;
    }

    private void send(DefaultMQProducer measured, RouteWatch routes, AsyncSends asyncSends)
            throws InterruptedException {
        SendCalls calls = new SendCalls(measured, setup.topic, routes, setup.sendTimeoutMs());
        Messages messages = new Messages(setup.run, setup.topic);
        List<Sender> senders = new ArrayList<>();
        for (int thread = 0; thread < setup.threads; thread++) {
            List<PlannedSend> own = new ArrayList<>();
            for (PlannedSend send : plan) {
                if (send.thread == thread) {
                    own.add(send);
                }
            }
            senders.add(new Sender(thread, own, startNs, calls, messages, routes, sink, asyncSends));
        }
        for (Sender sender : senders) {
            sender.start();
        }
        for (Sender sender : senders) {
            sender.join();
        }
    }

    private DefaultMQProducer keep(DefaultMQProducer producer) {
        synchronized (running) {
            running.add(producer);
        }
        return producer;
    }

    private static void require(boolean condition, String expected) {
        if (!condition) {
            throw new IllegalStateException("expected " + expected);
        }
    }
}
