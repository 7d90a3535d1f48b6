package rocketdiff.driver.consuming;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.RPCHook;

/** A lite pull consumer, by reflection: this driver is compiled against a release that has none. */
final class LitePullClient implements GroupClient {
    private static final String NAME = "org.apache.rocketmq.client.consumer.DefaultLitePullConsumer";

    private final ClientConfig consumer;
    private final Object impl;
    private final Method poll;
    private final String group;
    private volatile boolean isAssigned;

    LitePullClient(String group, RPCHook hook) {
        this.group = group;
        try {
            Constructor<?> constructor = Class.forName(NAME).getConstructor(String.class, RPCHook.class);
            this.consumer = (ClientConfig) constructor.newInstance(group, hook);
            this.poll = consumer.getClass().getMethod("poll");
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this client has no lite pull consumer", e);
        }
        this.impl = field(consumer, "defaultLitePullConsumerImpl");
    }

    /** True for the releases that have one. */
    static boolean exists() {
        try {
            Class.forName(NAME, false, LitePullClient.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    void divideBy(AllocateMessageQueueStrategy strategy) {
        call("setAllocateMessageQueueStrategy", AllocateMessageQueueStrategy.class, strategy);
    }

    void keepOffsetsIn(OffsetStore store) {
        call("setOffsetStore", OffsetStore.class, store);
    }

    void subscribe(String topic, String expression) throws MQClientException {
        invoke("subscribe", new Class<?>[] {String.class, String.class}, topic, expression);
    }

    /** Has it work on these queues, without a subscription. */
    void assign(Collection<MessageQueue> queues) {
        call("assign", Collection.class, queues);
        isAssigned = true;
    }

    /** The queues that it works on, each with its messages: those of its share, or those that were assigned to it. */
    @Override
    public Map<MessageQueue, ProcessQueue> processing() {
        if (!isAssigned) {
            return GroupClient.super.processing();
        }
        Map<MessageQueue, ProcessQueue> processing = new HashMap<>();
        Map<?, ?> states = (Map<?, ?>) field(field(impl, "assignedMessageQueue"), "assignedMessageQueueState");
        for (Map.Entry<?, ?> each : states.entrySet()) {
            processing.put((MessageQueue) each.getKey(), (ProcessQueue) field(each.getValue(), "processQueue"));
        }
        return processing;
    }

    /** Calls a method about a queue: seek (with an offset), seek_to_begin, seek_to_end, pause or resume. */
    void call(String what, MessageQueue queue, Long offset) throws MQClientException {
        switch (what) {
            case "seek":
                invoke("seek", new Class<?>[] {MessageQueue.class, long.class}, queue, offset);
                break;
            case "seek_to_begin":
                invoke("seekToBegin", new Class<?>[] {MessageQueue.class}, queue);
                break;
            case "seek_to_end":
                invoke("seekToEnd", new Class<?>[] {MessageQueue.class}, queue);
                break;
            case "pause":
            case "resume":
                invoke(what, new Class<?>[] {Collection.class}, Collections.singletonList(queue));
                break;
            default:
                throw new IllegalArgumentException("unknown call: " + what);
        }
    }

    /** Leaves commits to the application. */
    void commitNothingByPolls() {
        call("setAutoCommit", boolean.class, false);
    }

    /** Commits what polls have handed out. */
    void commit() {
        call("commitSync", null);
    }

    /** The messages of one queue; none if none come within the time that is set. */
    @SuppressWarnings("unchecked")
    List<MessageExt> poll() {
        try {
            return (List<MessageExt>) poll.invoke(consumer);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("a poll failed", e.getCause() == null ? e : e.getCause());
        }
    }

    @Override
    public void start() throws MQClientException {
        invoke("start", new Class<?>[0]);
    }

    @Override
    public void shutdown() {
        call("shutdown", null);
    }

    @Override
    public ClientConfig config() {
        return consumer;
    }

    @Override
    public String group() {
        return group;
    }

    @Override
    public MQClientInstance instance() {
        return (MQClientInstance) field(impl, "mQClientFactory");
    }

    @Override
    public RebalanceImpl rebalance() {
        return (RebalanceImpl) field(impl, "rebalanceImpl");
    }

    private void call(String method, Class<?> type, Object... values) {
        try {
            invoke(method, type == null ? new Class<?>[0] : new Class<?>[] {type}, values);
        } catch (MQClientException e) {
            throw new IllegalStateException(method + " failed", e);
        }
    }

    private void invoke(String method, Class<?>[] types, Object... values) throws MQClientException {
        try {
            consumer.getClass().getMethod(method, types).invoke(consumer, values);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof MQClientException) {
                throw (MQClientException) e.getCause();
            }
            if (e.getCause() instanceof RuntimeException) {
                throw (RuntimeException) e.getCause();
            }
            throw new IllegalStateException(method + " failed", e.getCause());
        } catch (NoSuchMethodException | IllegalAccessException e) {
            throw new IllegalStateException("this client has no " + method, e);
        }
    }

    private static Object field(Object owner, String name) {
        try {
            Field field = owner.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return field.get(owner);
        } catch (NoSuchFieldException | IllegalAccessException e) {
            throw new IllegalStateException("this client has no " + name, e);
        }
    }
}
