package rocketdiff.driver.sending;

import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import rocketdiff.driver.Record;
import rocketdiff.driver.RecordSink;

/**
 * Sends on a second producer until connections are open and code is compiled, without touching the measured one.
 *
 * <p>Another topic, because producers of one client id share the publish list, and with it the index, of a topic.
 */
final class WarmUp {
    /** Every broker's connection is opened by the first round; the second shows it in use. */
    private static final int ROUNDS = 2;
    /** After about this many sends the send path stopped getting faster (seen with C1 on two cores). */
    private static final int PLAIN_SENDS = 250;
    /** Sends that are bound to time out: a client's first failure took 5 to 12 ms longer than its second. */
    private static final int HASTY_SENDS = 10;
    private static final int HASTY_TIMEOUT_MS = 1;
    /** A healthy cluster answers a cold client well within this; the runner's own deadline for ready is longer. */
    private static final int SEND_TIMEOUT_MS = 5_000;
    /** Names every queue of any topic we make once a round; more than that only repeats some. */
    private static final int MAX_QUEUES = 64;
    private static final int BODY_BYTES = 128;
    private static final int LOOKUPS = 3;

    private final SendingSetup setup;
    private final LastOutcome outcome = new LastOutcome();
    private int sends;

    WarmUp(SendingSetup setup) {
        this.setup = setup;
    }

    /** Starts the warm producer, sends, and leaves it running for the caller to shut down. */
    DefaultMQProducer run(Producers producers) throws Exception {
        DefaultMQProducer warm = producers.start(setup.group + "-warm", SEND_TIMEOUT_MS);
        lookUpRoute(warm);
        RouteWatch routes = new RouteWatch(ClientInternals.publishTable(warm), setup.warmTopic, outcome);
        routes.version();
        int everyQueue = ROUNDS * Math.min(routes.queues().length, MAX_QUEUES);
        for (String kind : SendCalls.kinds()) {
            send(warm, routes, kind, kind.equals("queue") ? everyQueue : 1);
        }
        warm.setSendMsgTimeout(HASTY_TIMEOUT_MS);
        send(warm, routes, "plain", HASTY_SENDS);
        warm.setSendMsgTimeout(SEND_TIMEOUT_MS);
        send(warm, routes, "plain", PLAIN_SENDS);
        // Last, and to every queue: releases from 4.9.1 on close the connection of a timed-out request.
        send(warm, routes, "queue", everyQueue);
        outcome.check();
        return warm;
    }

    /** A cold client on a busy machine has been seen to take the three seconds of a lookup for connecting alone. */
    private void lookUpRoute(DefaultMQProducer warm) {
        for (int left = LOOKUPS; left > 0; left--) {
            try {
                ClientInternals.lookUpRoute(warm, setup.warmTopic);
                return;
            } catch (IllegalStateException e) {
                if (left == 1) {
                    throw e;
                }
            }
        }
    }

    private void send(DefaultMQProducer warm, RouteWatch routes, String kind, int count) throws InterruptedException {
        List<PlannedSend> plan = new ArrayList<>();
        for (int argument = 0; argument < count; argument++) {
            plan.add(PlannedSend.plain(sends++, kind, argument, BODY_BYTES));
        }
        SendCalls calls = new SendCalls(warm, setup.warmTopic, routes, SEND_TIMEOUT_MS);
        Messages messages = new Messages(setup.client.run, setup.warmTopic);
        Sender sender = new Sender(0, plan, System.nanoTime(), calls, messages, routes, outcome,
            new AsyncSends());
        sender.start();
        sender.join();
    }

    /** Formats every record, to warm that too, and remembers how the last send ended. */
    private static final class LastOutcome implements RecordSink {
        private final StringBuilder line = new StringBuilder();
        private String lastError = "no send was answered";

        @Override
        public void put(Record record) {
            line.setLength(0);
            record.write(line);
            if (record instanceof SendRecord) {
                lastError = line.indexOf("\"error\"") < 0 ? null : line.toString();
            }
        }

        /** The last send must have been answered: a stumble of a cold client is no reason to give up. */
        void check() {
            if (lastError != null) {
                throw new IllegalStateException("the warm-up's last send failed: " + lastError);
            }
        }
    }
}
