package rocketdiff.simulation.sending;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Release;

/** What is needed of a release's producer: its strategy, fault table, publish list, counters and routes. */
final class ProducerClasses {
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

    private ProducerClasses(Release release) {
        producer = release.type("client.producer.DefaultMQProducer");
        mqFaultStrategy = Members.field(release.type("client.impl.producer.DefaultMQProducerImpl"), "mqFaultStrategy");
        Class<?> strategy = mqFaultStrategy.getType();
        select = either(strategy, "selectOneMessageQueue", 3, 2);
        update = either(strategy, "updateFaultItem", 4, 3);
        latencyFaultTolerance = Members.field(strategy, "latencyFaultTolerance");
        Class<?> table = release.type("client.latency.LatencyFaultToleranceImpl");
        faultItemTable = Members.field(table, "faultItemTable");
        worstIndex = Members.field(table, "whichItemWorst", "randomItem");
        threadLocalIndex = Members.field(release.type("client.common.ThreadLocalIndex"), "threadLocalIndex");
        Class<?> item = release.type("client.latency.LatencyFaultToleranceImpl$FaultItem");
        itemStart = Members.field(item, "startTimestamp");
        itemLatency = Members.field(item, "currentLatency");
        itemReachable = Members.fieldOrNull(item, "reachableFlag");
        publishInfo = release.type("client.impl.producer.TopicPublishInfo");
        sendWhichQueue = Members.field(publishInfo, "sendWhichQueue");
        messageQueues = Members.method(publishInfo, "getMessageQueueList", 0);
        Class<?> queue = release.type("common.message.MessageQueue");
        queueBroker = Members.method(queue, "getBrokerName", 0);
        queueId = Members.method(queue, "getQueueId", 0);
        routeData = release.type("remoting.protocol.route.TopicRouteData", "common.protocol.route.TopicRouteData");
        Class<?> json = release.type("remoting.protocol.RemotingSerializable");
        decodeRoute = Members.method(json, "decode", byte[].class, Class.class);
        Class<?> factory = release.type("client.impl.factory.MQClientInstance");
        toPublishInfo = Members.method(factory, "topicRouteData2TopicPublishInfo", 2);
    }

    static ProducerClasses of(Release release) {
        return release.view(ProducerClasses.class, ProducerClasses::new);
    }

    private static Method either(Class<?> type, String name, int more, int fewer) {
        Method method = Members.methodOrNull(type, name, more);
        return method == null ? Members.method(type, name, fewer) : method;
    }
}
