package rocketdiff.grpc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.message.Message;
import org.apache.rocketmq.client.apis.message.MessageBuilder;
import org.apache.rocketmq.client.apis.producer.Producer;
import rocketdiff.line.CommandLoop;
import rocketdiff.line.JsonLine;

/** One run: prepare, say ready, wait for go, send, say done. Commands arrive on the reader's thread. */
final class Session extends Thread implements CommandLoop.Session {
    /** After about this many sends the send path stops getting faster. */
    private static final int WARM_SENDS = 150;
    /** A first connection and the client's settings from the proxy may fail while all else is starting. */
    private static final int TRIES = 5;
    private static final int WARM_BODY_BYTES = 128;
    private static final Duration WARM_TIMEOUT = Duration.ofSeconds(5);

    private final Output output;
    private final ClientServiceProvider provider = ClientServiceProvider.loadService();
    private final List<Map<String, Object>> plan = new ArrayList<>();
    private final CountDownLatch told = new CountDownLatch(1);
    private final AsyncSends asyncSends = new AsyncSends();
    private Map<String, Object> setup;
    private volatile long startNs;

    Session(Output output) {
        super("session");
        setDaemon(true);
        this.output = output;
    }

    @Override
    public void plan(Map<String, Object> line) {
        plan.add(line);
    }

    @Override
    public void setup(Map<String, Object> line) {
        setup = line;
        start();
    }

    @Override
    public void go(Map<String, Object> line) {
        startNs = (Long) line.get("start_ns");
        told.countDown();
    }

    @Override
    public void run() {
        String stage = "warm-up";
        try {
            warmUp();
            stage = "setup";
            @SuppressWarnings("unchecked")
            Map<String, Object> settings = (Map<String, Object>) setup.get("settings");
            long timeoutMs = (Long) settings.get("send_msg_timeout_ms");
            long retries = (Long) settings.get("retry_times_when_send_failed");
            Producer producer = producer(text("topic"), Duration.ofMillis(timeoutMs), 1 + (int) retries);
            output.put(new JsonLine("ready").with("clock_ns", System.nanoTime()));
            told.await();
            stage = "sends";
            send(producer);
            asyncSends.awaitAll((Long) setup.get("callback_limit_ms"));
            output.put(new JsonLine("done").with("sends", plan.size()));
        } catch (Throwable e) {
            e.printStackTrace();
            output.put(new JsonLine("failed").with("stage", stage).with("message", String.valueOf(e)));
        }
    }

    private void warmUp() throws Exception {
        Producer warm = producer(text("warm_topic"), WARM_TIMEOUT, TRIES);
        for (int i = 0; i < WARM_SENDS; i++) {
            Message message = provider.newMessageBuilder().setTopic(text("warm_topic")).setBody(new byte[WARM_BODY_BYTES]).build();
            if (i % 2 == 0) {
                warm.send(message);
            } else {
                warm.sendAsync(message).get();
            }
        }
        warm.close();
    }

    /** Building waits for the topic's route and the proxy's settings. */
    private Producer producer(String topic, Duration timeout, int attempts) throws Exception {
        StringBuilder endpoints = new StringBuilder();
        for (Object endpoint : (List<?>) setup.get("endpoints")) {
            endpoints.append(endpoints.length() == 0 ? "" : ";").append(endpoint);
        }
        ClientConfiguration configuration = ClientConfiguration.newBuilder()
            .setEndpoints(endpoints.toString()).enableSsl(false).setRequestTimeout(timeout).build();
        for (int left = TRIES; ; left--) {
            try {
                return provider.newProducerBuilder().setClientConfiguration(configuration)
                    .setTopics(topic).setMaxAttempts(attempts).build();
            } catch (Exception e) {
                if (left == 1) {
                    throw e;
                }
                e.printStackTrace();
            }
        }
    }

    private void send(Producer producer) throws InterruptedException {
        List<Thread> senders = new ArrayList<>();
        for (int number = 0; number < (Long) setup.get("threads"); number++) {
            int thread = number;
            Thread sender = new Thread(() -> sendAll(producer, thread), "sender-" + number);
            sender.start();
            senders.add(sender);
        }
        for (Thread sender : senders) {
            sender.join();
        }
    }

    private void sendAll(Producer producer, int thread) {
        for (Map<String, Object> send : plan) {
            if ((Long) send.get("thread") == thread) {
                long dueNs = startNs + (Long) send.get("due_ns");
                for (long left = dueNs - System.nanoTime(); left > 0; left = dueNs - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                if ("async".equals(send.get("mode"))) {
                    asyncSends.send(producer, () -> message(send), (Long) send.get("send"), thread, output);
                } else {
                    sendOne(producer, send, thread);
                }
            }
        }
    }

    private void sendOne(Producer producer, Map<String, Object> send, int thread) {
        Throwable error = null;
        long beginNs = System.nanoTime();
        try {
            producer.send(message(send));
        } catch (Throwable e) {
            error = e;
        }
        long endNs = System.nanoTime();
        output.put(Ended.line((Long) send.get("send"), thread, beginNs, endNs, error));
    }

    private Message message(Map<String, Object> send) {
        String topic = text("topic");
        String id = text("run") + "/" + topic + "/" + send.get("send");
        byte[] head = id.getBytes(StandardCharsets.UTF_8);
        byte[] body = Arrays.copyOf(head, Math.max(head.length, ((Long) send.get("body_bytes")).intValue()));
        Arrays.fill(body, head.length, body.length, (byte) '.');
        MessageBuilder builder = provider.newMessageBuilder().setTopic(topic).setBody(body).addProperty("rocketdiff.id", id);
        if ("group".equals(send.get("kind"))) {
            builder.setMessageGroup("group-" + send.get("argument"));
        }
        if (send.containsKey("keys")) {
            builder.setKeys(((String) send.get("keys")).split(" "));
        }
        if (send.containsKey("tags")) {
            builder.setTag((String) send.get("tags"));
        }
        if (send.containsKey("properties")) {
            for (Object pair : (List<?>) send.get("properties")) {
                builder.addProperty((String) ((List<?>) pair).get(0), (String) ((List<?>) pair).get(1));
            }
        }
        return builder.build();
    }

    private String text(String name) {
        return (String) setup.get(name);
    }
}
