package rocketdiff.simulation.consuming;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.VirtualThread;
import rocketdiff.simulation.servers.Network;
import rocketdiff.simulation.standins.CounterLocal;

/**
 * The real push consumer from its rounds and its pulls down to MQClientAPIImpl, below which a scripted RemotingClient answers.
 *
 * <p>It is not started but made to look so; of its threads those of the rounds and of the pulls run.
 */
public final class RebalanceClient extends ProcessQueueClient implements Member {
    private static final String OWN = "own";

    private final Group brokers = new Group();
    private final Object factory;
    private final Object rebalance;
    private final Object offsets;

    public RebalanceClient(Release release, Scheduler scheduler, Network network) {
        super(release, scheduler, network);
        Object consumer = Members.make(
            release.type("client.consumer.DefaultMQPushConsumer"), new Class<?>[] {String.class}, GROUP);
        Object impl = Members.get(consumer, "defaultMQPushConsumerImpl");
        factory = openFactory(release, scheduler, consumer);
        Class<?> instance = factory.getClass();
        rebalance = Members.get(impl, "rebalanceImpl");
        Members.set(impl, "mQClientFactory", factory);
        Members.set(rebalance, "consumerGroup", GROUP);
        Members.set(rebalance, "messageModel", Members.must(Members.method(consumer.getClass(), "getMessageModel", 0), consumer));
        Members.set(rebalance, "allocateMessageQueueStrategy",
            Members.must(Members.method(consumer.getClass(), "getAllocateMessageQueueStrategy", 0), consumer));
        Members.set(rebalance, "mQClientFactory", factory);
        offsets = Members.make(release.type("client.consumer.store.RemoteBrokerOffsetStore"),
            new Class<?>[] {instance, String.class}, factory, GROUP);
        Members.set(impl, "offsetStore", offsets);
        Members.set(impl, "pullAPIWrapper", Members.make(release.type("client.impl.consumer.PullAPIWrapper"),
            new Class<?>[] {instance, String.class, boolean.class}, factory, GROUP, false));
        subscribe(release);
        Method setState = Members.method(impl.getClass(), "setServiceState", 1);
        Members.must(setState, impl, constant(setState.getParameterTypes()[0], "RUNNING"));
        Members.must(Members.method(instance, "registerConsumer", 2), factory, GROUP, impl);
        Members.must(
            Members.method(instance, "updateTopicRouteInfoFromNameServer", String.class), factory, TOPIC);
        Members.must(Members.method(instance, "sendHeartbeatToAllBrokerWithLock", 0), factory);
        start("rebalanceService");
        start("pullMessageService");
    }

    private Object openFactory(Release release, Scheduler scheduler, Object consumer) {
        Object config = Members.must(Members.method(consumer.getClass(), "cloneClientConfig", 0), consumer);
        Class<?>[] parameters = {release.type("client.ClientConfig"), int.class, String.class};
        Object made = Members.make(
            release.type("client.impl.factory.MQClientInstance"), parameters, config, 0, OWN);
        Class<?> remoting = release.type("remoting.RemotingClient");
        GroupRemoting answers = new GroupRemoting(release.protocol(), network, scheduler, brokers);
        Members.set(Members.get(made, "mQClientAPIImpl"), "remotingClient",
            Proxy.newProxyInstance(release.loader, new Class<?>[] {remoting}, answers));
        return made;
    }

    @SuppressWarnings("unchecked")
    private void subscribe(Release release) {
        Class<?> type = release.type(
            "remoting.protocol.heartbeat.SubscriptionData", "common.protocol.heartbeat.SubscriptionData");
        Object all = Members.make(type, new Class<?>[] {String.class, String.class}, TOPIC, "*");
        ((Map<Object, Object>) Members.get(rebalance, "subscriptionInner")).put(TOPIC, all);
    }

    private static Object constant(Class<?> type, String name) {
        for (Object one : type.getEnumConstants()) {
            if (one.toString().equals(name)) {
                return one;
            }
        }
        throw new IllegalStateException("no " + name + " in " + type);
    }

    private void start(String service) {
        Object thread = Members.get(factory, service);
        Members.must(Members.method(thread.getClass(), "start", 0), thread);
    }

    @Override
    public Group brokers() {
        return brokers;
    }

    @Override
    public void wake() {
        Members.must(Members.method(factory.getClass(), "rebalanceImmediately", 0), factory);
    }

    @Override
    public void consumed(String broker, int queueId, long offset) {
        Object queue = classes.queue(TOPIC, broker, queueId);
        Members.must(Members.method(offsets.getClass(), "updateOffset", 3), offsets, queue, offset, true);
    }

    @Override
    public void pollRoutes() {
        Members.must(Members.method(factory.getClass(), "updateTopicRouteInfoFromNameServer", 0), factory);
    }

    @Override
    public void appendPart(StringBuilder out, String part, VirtualThread thread) {
        if (!part.equals("owned")) {
            super.appendPart(out, part, thread);
            return;
        }
        appendOwned(out, (Map<?, ?>) Members.get(rebalance, "processQueueTable"));
    }

    @Override
    public void appendState(StringBuilder out, VirtualThread thread) {
        appendPart(out.append("{\"owned\": "), "owned", thread);
        out.append('}');
    }
}
