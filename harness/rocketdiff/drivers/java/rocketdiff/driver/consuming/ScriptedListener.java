package rocketdiff.driver.consuming;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyContext;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyContext;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListener;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** The application's listener: reports the call first, does what the script says, reports the end last. */
final class ScriptedListener {
    private final int incarnation;
    private final ListenerScript script;
    private final MessageReader reader;
    private final Reports reports;
    private final Threads threads;

    ScriptedListener(int incarnation, ListenerScript script, MessageReader reader, Reports reports, Threads threads) {
        this.incarnation = incarnation;
        this.script = script;
        this.reader = reader;
        this.reports = reports;
        this.threads = threads;
    }

    MessageListener listener(boolean isOrderly) {
        return isOrderly ? (MessageListenerOrderly) this::consumeInOrder : (MessageListenerConcurrently) this::consume;
    }

    private ConsumeConcurrentlyStatus consume(List<MessageExt> messages, ConsumeConcurrentlyContext context) {
        CallEnd end = work(messages, context.getMessageQueue());
        if (end.delayLevel != null) {
            context.setDelayLevelWhenNextConsume(end.delayLevel);
        }
        if (end.ackIndex != null) {
            context.setAckIndex(end.ackIndex);
        }
        switch (end.outcome) {
            case THROW:
                throw new ScriptedException();
            case NULL:
                return null;
            case LATER:
                return ConsumeConcurrentlyStatus.RECONSUME_LATER;
            default:
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        }
    }

    @SuppressWarnings("deprecation")
    private ConsumeOrderlyStatus consumeInOrder(List<MessageExt> messages, ConsumeOrderlyContext context) {
        CallEnd end = work(messages, context.getMessageQueue());
        if (end.suspendMs != null) {
            context.setSuspendCurrentQueueTimeMillis(end.suspendMs);
        }
        switch (end.outcome) {
            case THROW:
                throw new ScriptedException();
            case NULL:
                return null;
            case LATER:
                return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT;
            case ROLLBACK:
                return ConsumeOrderlyStatus.ROLLBACK;
            case COMMIT:
                return ConsumeOrderlyStatus.COMMIT;
            default:
                return ConsumeOrderlyStatus.SUCCESS;
        }
    }

    CallEnd work(List<MessageExt> messages, MessageQueue queue) {
        long atNs = System.nanoTime();
        List<SeenMessage> seen = reader.read(messages, queue.getTopic());
        int call = reports.received(incarnation, threads.own(), atNs, queue, seen);
        CallEnd end = script.endOf(seen);
        if (end.workMs > 0) {
            try {
                Thread.sleep(end.workMs);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        reports.consumed(call, end);
        return end;
    }

    /** Numbers of the threads that call the listener, in order of appearance. */
    static final class Threads {
        private final AtomicInteger count = new AtomicInteger();
        private final ThreadLocal<Integer> number = ThreadLocal.withInitial(count::getAndIncrement);

        int own() {
            return number.get();
        }
    }

    /** What a scripted listener throws. */
    static final class ScriptedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        ScriptedException() {
            super("the script says so", null, false, false);
        }
    }
}
