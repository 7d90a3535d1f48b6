package rocketdiff.driver.consuming;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyContext;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * A consumer of another group on another topic, which loads the client's classes and is shut down before the member joins.
 *
 * <p>Without it a first start on a busy machine took ten seconds and lost two lookups of a route.
 */
final class WarmMember {
    /** The runner has stored this many messages in the warm topic. */
    private static final int MESSAGES = 8;
    private static final int STARTS = 3;
    private static final long MESSAGES_S = 45;
    private static final long HANDLED_S = 3;
    private static final long LOOK_MS = 5;
    private static final long LEAVE_MS = 500;

    private final ConsumingSetup setup;
    private final Set<String> seen = ConcurrentHashMap.newKeySet();
    private final CountDownLatch missing = new CountDownLatch(MESSAGES);
    private final Consumers consumers;
    private final Reports reports = new Reports(record -> record.write(new StringBuilder()));
    private final MessageListenerConcurrently scripted;

    WarmMember(ConsumingSetup setup) {
        this.setup = setup;
        this.consumers = new Consumers(setup);
        ListenerScript script = new ListenerScript(Collections.emptyList(), 0);
        ScriptedListener listener =
            new ScriptedListener(0, script, new MessageReader(setup), reports, new ScriptedListener.Threads());
        this.scripted = (MessageListenerConcurrently) listener.listener(false);
    }

    void run() throws MQClientException, InterruptedException {
        PushClient consumer = started();
        try {
            new QueueTable(consumer, 0, reports).end();
            if (!consumed(consumer)) {
                String expected = "expected " + MESSAGES + " messages of " + setup.warmTopic + " within " + MESSAGES_S + " s";
                throw new IllegalStateException(expected + ", saw " + seen.size());
            }
            awaitHandled(consumer);
        } finally {
            leave(consumer);
        }
    }

    /** A shutdown closes its connections, then waits up to three seconds for a sleeping thread, which need not hold up the member. */
    private static void leave(PushClient consumer) throws InterruptedException {
        Thread leaving = new Thread(consumer::shutdown, "warm-member-leaves");
        leaving.setDaemon(true);
        leaving.start();
        leaving.join(LEAVE_MS);
    }

    /** True once all messages have come. Late rounds are replaced by rounds at once. */
    private boolean consumed(PushClient consumer) throws InterruptedException {
        boolean areRoundsOurs = consumer.endLateRounds();
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(MESSAGES_S);
        while (System.nanoTime() < endNs) {
            if (areRoundsOurs) {
                consumer.divideNow();
            }
            if (missing.await(1, TimeUnit.SECONDS)) {
                return true;
            }
        }
        return false;
    }

    /** Waits for the send-back of the failed message: a shutdown would interrupt it, and that closes its connection. */
    private static void awaitHandled(PushClient consumer) throws InterruptedException {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(HANDLED_S);
        while (consumer.processing().values().stream().anyMatch(queue -> !queue.getMsgTreeMap().isEmpty())
            && System.nanoTime() < endNs) {
            Thread.sleep(LOOK_MS);
        }
    }

    /** A cold client on a busy machine has been seen to take the three seconds of a lookup for connecting alone. */
    private PushClient started() throws MQClientException {
        for (int left = STARTS; ; left--) {
            PushClient made = consumers.warm(reports, (MessageListenerConcurrently) this::consume);
            try {
                made.start();
                return made;
            } catch (MQClientException | RuntimeException e) {
                made.shutdown();
                if (left == 1) {
                    throw e;
                }
            }
        }
    }

    /** The first message fails once, to load what a send-back needs. */
    private ConsumeConcurrentlyStatus consume(List<MessageExt> messages, ConsumeConcurrentlyContext context) {
        scripted.consumeMessage(messages, context);
        boolean isFirst = false;
        for (MessageExt message : messages) {
            if (seen.add(message.getMsgId())) {
                isFirst |= seen.size() == 1;
                missing.countDown();
            }
        }
        return isFirst ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
    }
}
