package rocketdiff.driver;

import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.producer.DefaultMQProducer;

/**
 * Sends on a second producer until connections are open and code is compiled, without touching the measured one.
 *
 * <p>Another topic, because producers of one client id share the publish list, and with it the index, of a topic.
 */
final class WarmUp {
    /** Every broker's connection is opened by the first round; the second shows it in use. */
    private static final int ROUNDS = 2;
    /** After about this many sends a release's send path stopped getting faster (seen with C1 on two cores). */
    private static final int PLAIN_SENDS = 300;
    /** A healthy cluster answers a cold client well within this; the runner's own deadline for ready is longer. */
    private static final int SEND_TIMEOUT_MS = 5_000;
    /** Names every queue of any topic we make once a round; more than that only repeats some. */
    private static final int MAX_QUEUES = 64;

    private final Setup setup;

    WarmUp(Setup setup) {
        this.setup = setup;
    }

    /** Starts the warm producer, sends, and leaves it running for the caller to shut down. */
    DefaultMQProducer run(Producers producers) throws Exception {
        DefaultMQProducer warm = producers.start(setup.group + "-warm", SEND_TIMEOUT_MS);
        ClientInternals.lookUpRoute(warm, setup.warmTopic);
        Outcomes outcomes = new Outcomes();
        RouteWatch routes = new RouteWatch(ClientInternals.publishTable(warm), setup.warmTopic, outcomes);
        routes.version();
        SendCalls calls = new SendCalls(warm, setup.warmTopic, routes, SEND_TIMEOUT_MS);
        Messages messages = new Messages(setup.run, setup.warmTopic);
        Sender sender = new Sender(0, plan(routes.queues().length), System.nanoTime(), calls, messages, routes, outcomes);
        sender.start();
        sender.join();
        outcomes.check();
        return warm;
    }

    private static List<PlannedSend> plan(int queues) {
        List<PlannedSend> plan = new ArrayList<>();
        for (int i = 0; i < ROUNDS * Math.min(queues, MAX_QUEUES); i++) {
            plan.add(new PlannedSend(plan.size(), 0, 0, "queue", i, 128));
        }
        for (String kind : SendCalls.kinds()) {
            plan.add(new PlannedSend(plan.size(), 0, 0, kind, 0, 128));
        }
        for (int i = 0; i < PLAIN_SENDS; i++) {
            plan.add(new PlannedSend(plan.size(), 0, 0, "plain", 0, 128));
        }
        return plan;
    }

    /** Formats every record, to warm that too, and keeps the last line that tells of an error. */
    private static final class Outcomes implements RecordSink {
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
