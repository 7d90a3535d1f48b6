package rocketdiff.driver.sending;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import rocketdiff.driver.RecordSink;
import rocketdiff.driver.RoleRunner;

/** The client as a producer: the planned sends, by threads of the application. */
public final class SendingRunner implements RoleRunner {
    private final RecordSink sink;
    private final List<PlannedSend> plan = new ArrayList<>();
    private final List<DefaultMQProducer> running = new ArrayList<>();
    private final AsyncSends asyncSends = new AsyncSends();
    private SendingSetup setup;
    private RequestHook requestHook;
    private DefaultMQProducer measured;
    private RouteWatch routes;
    private volatile String stage = "warm-up";

    public SendingRunner(RecordSink sink) {
        this.sink = sink;
    }

    /** What this driver can do as a producer on the release of the class path. */
    public static List<String> capabilities() {
        List<String> capabilities = new ArrayList<>(SendCalls.kinds());
        capabilities.addAll(SendCalls.modes());
        capabilities.addAll(Arrays.asList("attempts", "routes", "causes"));
        return capabilities;
    }

    /** Names of the settings that only some releases have. */
    public static List<String> optionalSettings() {
        return OptionalSettings.known();
    }

    @Override
    public void plan(Map<String, Object> line) {
        plan.add(PlannedSend.of(line));
    }

    @Override
    public void setup(Map<String, Object> line) {
        setup = new SendingSetup(line);
    }

    @Override
    public void prepare() throws Exception {
        requestHook = isAnyAsync() ? new RequestHook(asyncSends) : null;
        Producers producers = new Producers(setup.client, asyncSends, requestHook);
        DefaultMQProducer warm = keep(new WarmUp(setup).run(producers));
        stage = "setup";
        measured = keep(producers.start(setup.group, setup.sendTimeoutMs()));
        routes = new RouteWatch(ClientInternals.publishTable(measured), setup.topic, sink);
        ClientInternals.lookUpRoute(measured, setup.topic);
        warm.shutdown();
        ClientInternals.forgetTopic(measured, setup.warmTopic);
        routes.version();
    }

    @Override
    public int run(long startNs) throws InterruptedException {
        stage = "sends";
        if (requestHook != null) {
            requestHook.brokersBy(address -> ClientInternals.brokerAt(measured, routes.queues(), address));
        }
        send(startNs);
        asyncSends.awaitAll(setup.callbackLimitMs);
        return plan.size();
    }

    @Override
    public String stage() {
        return stage;
    }

    @Override
    public void shutdown() {
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

    private void send(long startNs) throws InterruptedException {
        SendCalls calls = new SendCalls(measured, setup.topic, routes, setup.sendTimeoutMs());
        Messages messages = new Messages(setup.client.run, setup.topic);
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
}
