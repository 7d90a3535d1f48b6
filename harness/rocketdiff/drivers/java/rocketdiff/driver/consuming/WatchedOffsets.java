package rocketdiff.driver.consuming;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.consumer.store.LocalFileOffsetStore;
import org.apache.rocketmq.client.consumer.store.OffsetStore;
import org.apache.rocketmq.client.consumer.store.ReadOffsetType;
import org.apache.rocketmq.client.consumer.store.RemoteBrokerOffsetStore;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * The client's own offset store behind a proxy that reports what is done with each offset.
 *
 * <p>A proxy, because the interface has grown (5.2.0). The store is made when the client loads it: then its instance
 * exists. What the store does inside, and the commit flag of a pull, is not seen here.
 */
final class WatchedOffsets implements InvocationHandler {
    private final GroupClient consumer;
    private final boolean isBroadcasting;
    private final int incarnation;
    private final Reports reports;
    /** A client at the end of a slave's queue updates it with the same offset a hundred times a second. */
    private final Map<MessageQueue, Object> updated = new ConcurrentHashMap<>();
    private OffsetStore store;

    private WatchedOffsets(GroupClient consumer, boolean isBroadcasting, int incarnation, Reports reports) {
        this.consumer = consumer;
        this.isBroadcasting = isBroadcasting;
        this.incarnation = incarnation;
        this.reports = reports;
    }

    static OffsetStore of(GroupClient consumer, boolean isBroadcasting, int incarnation, Reports reports) {
        WatchedOffsets handler = new WatchedOffsets(consumer, isBroadcasting, incarnation, reports);
        Class<?>[] faces = {OffsetStore.class};
        return (OffsetStore) Proxy.newProxyInstance(OffsetStore.class.getClassLoader(), faces, handler);
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        OffsetStore watched = store();
        if (method.getDeclaringClass() == Object.class) {
            return method.invoke(watched, arguments);
        }
        before(method.getName(), arguments, watched);
        Object result;
        try {
            result = method.invoke(watched, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
        after(method.getName(), arguments, result);
        return result;
    }

    private synchronized OffsetStore store() {
        if (store == null) {
            MQClientInstance instance = consumer.instance();
            String group = consumer.group();
            store = isBroadcasting ? new LocalFileOffsetStore(instance, group) : new RemoteBrokerOffsetStore(instance, group);
        }
        return store;
    }

    /** What is persisted is what memory has just before. */
    @SuppressWarnings("unchecked")
    private void before(String method, Object[] arguments, OffsetStore watched) {
        if (method.equals("persistAll") && arguments[0] != null) {
            for (MessageQueue queue : (Set<MessageQueue>) arguments[0]) {
                committed(queue, watched);
            }
        } else if (method.equals("persist")) {
            committed((MessageQueue) arguments[0], watched);
        }
    }

    private void committed(MessageQueue queue, OffsetStore watched) {
        long value = queue == null ? -1 : watched.readOffset(queue, ReadOffsetType.READ_FROM_MEMORY);
        if (value >= 0) {
            reports.offset(incarnation, "commit", queue, value);
        }
    }

    private void after(String method, Object[] arguments, Object result) {
        switch (method) {
            case "readOffset":
                if (arguments[0] != null && arguments[1] != ReadOffsetType.READ_FROM_MEMORY) {
                    reports.offset(incarnation, "query", (MessageQueue) arguments[0], (Long) result);
                }
                break;
            case "updateOffset":
                if (arguments[0] != null && !arguments[1].equals(updated.put((MessageQueue) arguments[0], arguments[1]))) {
                    report("update", arguments);
                }
                break;
            case "updateAndFreezeOffset":
                report("freeze", arguments);
                break;
            case "updateConsumeOffsetToBroker":
                report("commit", arguments);
                break;
            case "removeOffset":
                if (arguments[0] != null) {
                    updated.remove((MessageQueue) arguments[0]);
                    reports.offset(incarnation, "forget", (MessageQueue) arguments[0], null);
                }
                break;
            default:
                break;
        }
    }

    private void report(String what, Object[] arguments) {
        if (arguments[0] != null) {
            reports.offset(incarnation, what, (MessageQueue) arguments[0], (Long) arguments[1]);
        }
    }
}
