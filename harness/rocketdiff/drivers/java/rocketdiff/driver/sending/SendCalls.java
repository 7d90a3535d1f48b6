package rocketdiff.driver.sending;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.MessageQueueSelector;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;
import rocketdiff.driver.Queue;

/** Which call of the client's interface each kind of send is. */
final class SendCalls {
    private static final MessageQueueSelector MODULO = new MessageQueueSelector() {
        @Override
        public MessageQueue select(List<MessageQueue> queues, Message message, Object argument) {
            return queues.get(Math.floorMod((Integer) argument, queues.size()));
        }
    };
    private static final Method BATCH = batchMethod();

    private final DefaultMQProducer producer;
    private final String topic;
    private final RouteWatch routes;
    private final int timeoutMs;

    SendCalls(DefaultMQProducer producer, String topic, RouteWatch routes, int timeoutMs) {
        this.producer = producer;
        this.topic = topic;
        this.routes = routes;
        this.timeoutMs = timeoutMs;
    }

    /** Kinds this client can do: those its release has a call for. */
    static List<String> kinds() {
        List<String> kinds = new ArrayList<>(Arrays.asList("plain", "queue", "selector"));
        if (BATCH != null) {
            kinds.add("batch");
        }
        return kinds;
    }

    /** The queue an explicit send names, chosen before its call; null for the other kinds. */
    MessageQueue target(PlannedSend plan) {
        if (!plan.kind.equals("queue")) {
            return null;
        }
        Queue[] queues = routes.queues().clone();
        if (queues.length == 0) {
            throw new IllegalStateException("no queue of " + topic + " is known");
        }
        Arrays.sort(queues);
        Queue queue = queues[Math.floorMod(plan.argument, queues.length)];
        return new MessageQueue(topic, queue.broker, queue.id);
    }

    /** Modes besides the synchronous one; every release has them. */
    static List<String> modes() {
        return Arrays.asList("async", "oneway");
    }

    void sendAsync(PlannedSend plan, Message message, MessageQueue target, SendCallback callback) throws Throwable {
        switch (plan.kind) {
            case "plain":
                producer.send(message, callback);
                break;
            case "queue":
                producer.send(message, target, callback, timeoutMs);
                break;
            case "selector":
                producer.send(message, MODULO, plan.argument, callback, timeoutMs);
                break;
            default:
                throw new IllegalArgumentException("no asynchronous " + plan.kind);
        }
    }

    /** One synchronous call, or a one-way one, whose result is null. */
    SendResult send(PlannedSend plan, Message message, MessageQueue target) throws Throwable {
        if (plan.mode.equals("oneway")) {
            sendOneway(plan, message, target);
            return null;
        }
        switch (plan.kind) {
            case "plain":
                return producer.send(message);
            case "queue":
                return producer.send(message, target, timeoutMs);
            case "selector":
                return producer.send(message, MODULO, plan.argument, timeoutMs);
            case "batch":
                return batch(message);
            default:
                throw new IllegalArgumentException("unknown kind of send " + plan.kind);
        }
    }

    private void sendOneway(PlannedSend plan, Message message, MessageQueue target) throws Throwable {
        switch (plan.kind) {
            case "plain":
                producer.sendOneway(message);
                break;
            case "queue":
                producer.sendOneway(message, target);
                break;
            case "selector":
                producer.sendOneway(message, MODULO, plan.argument);
                break;
            default:
                throw new IllegalArgumentException("no one-way " + plan.kind);
        }
    }

    private SendResult batch(Message message) throws Throwable {
        if (BATCH == null) {
            throw new UnsupportedOperationException("this release cannot send a batch");
        }
        try {
            return (SendResult) BATCH.invoke(producer, Collections.singletonList(message));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static Method batchMethod() {
        try {
            return DefaultMQProducer.class.getMethod("send", Collection.class);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }
}
