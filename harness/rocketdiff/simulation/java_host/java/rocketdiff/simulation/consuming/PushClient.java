package rocketdiff.simulation.consuming;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.client.Statics;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.VirtualThread;
import rocketdiff.simulation.servers.Network;

/** A real consumer, DefaultMQPushConsumer or DefaultLitePullConsumer, started by a step as any application starts it. */
public final class PushClient extends ProcessQueueClient implements Subscriber {
    private final Release release;
    private final Scheduler scheduler;
    private final GroupBrokers brokers;
    private final Runnable onClose;
    private Object consumer;
    private LitePull polled;
    private boolean isAssigned;
    private boolean hasLeft;

    public PushClient(
        Release release, Scheduler scheduler, Network network, GroupBrokers brokers, Runnable onClose) {
        super(release, scheduler, network);
        this.release = release;
        this.scheduler = scheduler;
        this.brokers = brokers;
        this.onClose = onClose;
    }

    @Override
    public void join(Listening listening) throws Throwable {
        if (hasLeft) {
            brokers.onReturn.run();
        } else {
            LocalOffsetFolder.empty();
        }
        polled = listening.polls ? new LitePull(release, scheduler, network) : null;
        Class<?> push = release.type("client.consumer.DefaultMQPushConsumer");
        Class<?> hook = release.type("remoting.RPCHook");
        Class<?> strategy = release.type("client.consumer.AllocateMessageQueueStrategy");
        Object averagely = Members.make(release.type("client.consumer.rebalance.AllocateMessageQueueAveragely"), new Class<?>[0]);
        consumer = listening.polls ? polled.consumer : Members.make(
            push, new Class<?>[] {String.class, hook, strategy}, GROUP,
            Proxy.newProxyInstance(release.loader, new Class<?>[] {hook}, (proxy, method, arguments) -> {
                if (method.getName().equals("doBeforeRequest")) {
                    brokers.hook(arguments[1]);
                }
                if (method.getName().equals("equals")) {
                    return proxy == arguments[0];
                }
                return method.getName().equals("hashCode") ? (Object) System.identityHashCode(proxy) : null;
            }), averagely);
        set("setNamesrvAddr", String.class, network.nameServer.address);
        set("setClientIP", String.class, "own");
        set("setInstanceName", String.class, "own");
        set("setVipChannelEnabled", boolean.class, false);
        brokers.ownId = (String) Members.must(Members.method(consumer.getClass(), "buildMQClientId", 0), consumer);
        if (listening.hasHook) {
            ConsumptionHook.register(release, network, impl(), message -> brokers.group.note(scheduler.nowMs(), "hook " + message));
        }
        if (!listening.polls) {
            Class<?> listener = release.type("client.consumer.listener.MessageListener"
                + (listening.isOrderly ? "Orderly" : "Concurrently"));
            Object heard = Proxy.newProxyInstance(release.loader, new Class<?>[] {listener}, listener(listening));
            set("registerMessageListener", listener, heard);
        }
        if (listening.broadcasts) {
            Class<?> model = release.type(
                "remoting.protocol.heartbeat.MessageModel", "common.protocol.heartbeat.MessageModel");
            set("setMessageModel", model, constant(model, "BROADCASTING"));
        }
        if (listening.mostReconsumeTimes >= 0) {
            set("setMaxReconsumeTimes", int.class, listening.mostReconsumeTimes);
        }
        isAssigned = listening.assigned != null;
        if (isAssigned) {
            polled.assign(listening.assigned);
        } else {
            subscribe(TOPIC, listening.tags);
        }
        if (listening.hasUnknownTopic) {
            subscribe("unknown", "*");
        }
        Members.call(Members.method(consumer.getClass(), "start", 0), consumer);
    }

    private void subscribe(String topic, String tags) {
        Members.must(Members.method(consumer.getClass(), "subscribe", String.class, String.class), consumer, topic, tags);
    }

    private void set(String setter, Class<?> parameter, Object value) {
        Members.must(Members.method(consumer.getClass(), setter, parameter), consumer, value);
    }

    private InvocationHandler listener(Listening listening) {
        Class<?> status = release.type("client.consumer.listener.Consume"
            + (listening.isOrderly ? "Orderly" : "Concurrently") + "Status");
        String failed = listening.isOrderly ? "SUSPEND_CURRENT_QUEUE_A_MOMENT" : "RECONSUME_LATER";
        String succeeded = listening.isOrderly ? "SUCCESS" : "CONSUME_SUCCESS";
        return (proxy, method, arguments) -> {
            if (!method.getName().equals("consumeMessage")) {
                return method.getName().equals("hashCode") ? (Object) System.identityHashCode(proxy) : null;
            }
            Object message = ((List<?>) arguments[0]).get(0);
            Object queue = Members.must(Members.method(arguments[1].getClass(), "getMessageQueue", 0), arguments[1]);
            long offset = (Long) Members.must(Members.method(message.getClass(), "getQueueOffset", 0), message);
            int times = (Integer) Members.must(Members.method(message.getClass(), "getReconsumeTimes", 0), message);
            Method transaction = Members.methodOrNull(message.getClass(), "getTransactionId", 0);
            Object id = transaction == null ? null : Members.must(transaction, message);
            brokers.group.note(scheduler.nowMs(), "deliver " + name(queue) + " " + offset + " times " + times
                + (id == null ? "" : " transaction " + id));
            Listening.Row row = listening.row(offset, times);
            if (row == null) {
                return constant(status, succeeded);
            }
            if (row.worksMs > 0) {
                scheduler.sleepUntil(scheduler.nowMs() + row.worksMs);
            }
            if (row.level != null && listening.isOrderly) {
                Members.must(Members.method(arguments[1].getClass(), "setSuspendCurrentQueueTimeMillis", 1), arguments[1], row.level);
            } else if (row.level != null) {
                Members.must(Members.method(arguments[1].getClass(), "setDelayLevelWhenNextConsume", 1), arguments[1], row.level.intValue());
            }
            if (row.then.equals("throw")) {
                throw new IllegalStateException("a listener throws");
            }
            return row.then.equals("none") ? null : constant(status, row.then.equals("later") ? failed : succeeded);
        };
    }

    private static Object constant(Class<?> type, String name) {
        for (Object one : type.getEnumConstants()) {
            if (one.toString().equals(name)) {
                return one;
            }
        }
        throw new IllegalStateException("no " + name + " in " + type);
    }

    @Override
    public void leave() {
        if (consumer == null) {
            return;
        }
        Members.must(Members.method(consumer.getClass(), "shutdown", 0), consumer);
        consumer = null;
        hasLeft = true;
        // A thread that still waited for an answer has had its turn, and may have connected once more.
        scheduler.settle();
        brokers.onLeave.run();
    }

    @Override
    public String poll(long ms) throws Throwable {
        return started().poll(ms);
    }

    @Override
    public String commitPolled(List<Object> queues) throws Throwable {
        return started().commit(queues);
    }

    @Override
    public String seek(String broker, int queue, long offset, String to) throws Throwable {
        return started().seek(broker, queue, offset, to);
    }

    @Override
    public String assign(List<Object> queues) throws Throwable {
        return started().assign(queues);
    }

    @Override
    public String pauseQueue(String broker, int queue, boolean pauses) throws Throwable {
        return started().pause(broker, queue, pauses);
    }

    private LitePull started() {
        if (polled == null) {
            throw new UnsupportedOperationException("no lite pull consumer was started");
        }
        return polled;
    }

    @Override
    public void store(String broker, int queue, long count, int bytes, String tag, boolean isTransactional, boolean isRetried) {
        brokers.store(network.broker(broker), queue, count, bytes, tag, isTransactional, isRetried);
    }

    @Override
    public void notified(String broker) {
        brokers.notifyIdsChanged(network.broker(broker));
    }

    @Override
    public void reset(String broker, List<?> queues, long offset) {
        brokers.reset(network.broker(broker), queues, offset);
    }

    @Override
    public void refuse(String broker, String asked, Integer code) {
        brokers.refuse(broker, asked, code);
    }

    @Override
    public void failHook(String asked) {
        brokers.failsHook = asked;
    }

    @Override
    public void knowRetryTopic() {
        brokers.knowsRetryTopic = true;
    }

    @Override
    public void suggest(String broker, long id) {
        brokers.suggest(broker, id);
    }

    @Override
    public void lockHolder(String broker, int queue, boolean isOther) {
        if (isOther) {
            brokers.lockedByOthers.add(broker + "/" + queue);
        } else {
            brokers.lockedByOthers.remove(broker + "/" + queue);
        }
    }

    @Override
    public Group brokers() {
        return brokers.group;
    }

    @Override
    public void wake() {
        throw new Failure(Failure.SCRIPT, "wake at depth consumer");
    }

    @Override
    public void consumed(String broker, int queueId, long offset) {
        throw new Failure(Failure.SCRIPT, "consumed at depth consumer");
    }

    @Override
    public void appendPart(StringBuilder out, String part, VirtualThread thread) {
        if (!part.equals("owned")) {
            super.appendPart(out, part, thread);
        } else if (consumer == null) {
            out.append("[]");
        } else if (isAssigned) {
            appendOwned(out, polled.assigned());
        } else {
            appendOwned(out, (Map<?, ?>) Members.get(Members.get(impl(), "rebalanceImpl"), "processQueueTable"));
        }
    }

    private Object impl() {
        return Members.get(consumer, polled == null ? "defaultMQPushConsumerImpl" : "defaultLitePullConsumerImpl");
    }

    @Override
    public void appendState(StringBuilder out, VirtualThread thread) {
        appendPart(out.append("{\"owned\": "), "owned", thread);
        out.append('}');
    }

    @Override
    public void close() {
        Statics.forgetClients(release);
        onClose.run();
    }
}
