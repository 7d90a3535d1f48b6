package rocketdiff.simulation.client;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;
import rocketdiff.simulation.loading.JarShelf;
import rocketdiff.simulation.loading.ReleaseLoader;

/** The classes of one release and what is needed of them, found by name; nothing here knows a release's number. */
public final class Release {
    private static final String ROOT = "org.apache.rocketmq.";

    public final String name;
    public final ClassLoader loader;

    private Sending sending;
    private Protocol protocol;

    final Class<?> producer;
    final Field mqFaultStrategy;
    final Method select;
    final Method update;
    final Field latencyFaultTolerance;
    final Field faultItemTable;
    final Field worstIndex;
    final Class<?> publishInfo;
    final Field sendWhichQueue;
    final Field threadLocalIndex;
    final Field itemStart;
    final Field itemLatency;
    final Field itemReachable;
    final Method messageQueues;
    final Method queueBroker;
    final Method queueId;
    final Class<?> routeData;
    final Method decodeRoute;
    final Method toPublishInfo;

    public Release(String name, List<String> classPath, JarShelf shelf) throws IOException {
        this.name = name;
        this.loader = new ReleaseLoader(classPath, shelf);
        producer = type("client.producer.DefaultMQProducer");
        mqFaultStrategy = Members.field(type("client.impl.producer.DefaultMQProducerImpl"), "mqFaultStrategy");
        Class<?> strategy = mqFaultStrategy.getType();
        select = either(strategy, "selectOneMessageQueue", 3, 2);
        update = either(strategy, "updateFaultItem", 4, 3);
        latencyFaultTolerance = Members.field(strategy, "latencyFaultTolerance");
        Class<?> table = type("client.latency.LatencyFaultToleranceImpl");
        faultItemTable = Members.field(table, "faultItemTable");
        worstIndex = Members.field(table, "whichItemWorst", "randomItem");
        threadLocalIndex = Members.field(type("client.common.ThreadLocalIndex"), "threadLocalIndex");
        Class<?> item = type("client.latency.LatencyFaultToleranceImpl$FaultItem");
        itemStart = Members.field(item, "startTimestamp");
        itemLatency = Members.field(item, "currentLatency");
        itemReachable = Members.fieldOrNull(item, "reachableFlag");
        publishInfo = type("client.impl.producer.TopicPublishInfo");
        sendWhichQueue = Members.field(publishInfo, "sendWhichQueue");
        messageQueues = Members.method(publishInfo, "getMessageQueueList", 0);
        Class<?> queue = type("common.message.MessageQueue");
        queueBroker = Members.method(queue, "getBrokerName", 0);
        queueId = Members.method(queue, "getQueueId", 0);
        routeData = type("remoting.protocol.route.TopicRouteData", "common.protocol.route.TopicRouteData");
        Class<?> json = type("remoting.protocol.RemotingSerializable");
        decodeRoute = Members.method(json, "decode", byte[].class, Class.class);
        Class<?> factory = type("client.impl.factory.MQClientInstance");
        toPublishInfo = Members.method(factory, "topicRouteData2TopicPublishInfo", 2);
    }

    /** The first class of these names that the release has; packages moved at 5.1.0. */
    public Class<?> type(String... names) {
        for (String candidate : names) {
            try {
                return Class.forName(ROOT + candidate, true, loader);
            } catch (ClassNotFoundException elsewhere) {
                continue;
            }
        }
        throw new IllegalStateException(name + " has no class " + String.join(" or ", names));
    }

    /** Calls that send; looked up at the first send. */
    Sending sending() {
        if (sending == null) {
            sending = new Sending(this);
        }
        return sending;
    }

    /** Requests, responses and exceptions of remoting; looked up at first use. */
    public Protocol protocol() {
        if (protocol == null) {
            protocol = new Protocol(this);
        }
        return protocol;
    }

    private static Method either(Class<?> type, String name, int more, int fewer) {
        Method method = Members.methodOrNull(type, name, more);
        return method == null ? Members.method(type, name, fewer) : method;
    }
}
