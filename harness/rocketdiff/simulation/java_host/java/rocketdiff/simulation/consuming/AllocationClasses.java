package rocketdiff.simulation.consuming;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashSet;
import java.util.List;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.scheduler.Failure;

/** A release's strategies, its queues, and how it reads a route. */
final class AllocationClasses {
    private static final String REBALANCE = "client.consumer.rebalance.Allocate";

    final Method allocate;
    final Class<?> queue;
    final Method queueBroker;
    final Method queueId;
    final Class<?> routeData;
    final Method decodeRoute;
    final Method toSubscribeInfo;
    private final Release release;

    private AllocationClasses(Release release) {
        this.release = release;
        allocate = Members.method(release.type("client.consumer.AllocateMessageQueueStrategy"), "allocate", 4);
        queue = release.type("common.message.MessageQueue");
        queueBroker = Members.method(queue, "getBrokerName", 0);
        queueId = Members.method(queue, "getQueueId", 0);
        routeData = release.type("remoting.protocol.route.TopicRouteData", "common.protocol.route.TopicRouteData");
        decodeRoute = Members.method(
            release.type("remoting.protocol.RemotingSerializable"), "decode", byte[].class, Class.class);
        Class<?> factory = release.type("client.impl.factory.MQClientInstance");
        toSubscribeInfo = Members.method(factory, "topicRouteData2TopicSubscribeInfo", 2);
    }

    static AllocationClasses of(Release release) {
        return release.view(AllocationClasses.class, AllocationClasses::new);
    }

    Object queue(String topic, String broker, int id) {
        return Members.make(queue, new Class<?>[] {String.class, String.class, int.class}, topic, broker, id);
    }

    /** A fresh strategy of this name; null if the release has none. */
    Object strategy(String name, Allocation asked, List<Object> configured) {
        switch (name) {
            case "AVG":
                return plain("MessageQueueAveragely");
            case "AVG_BY_CIRCLE":
                return plain("MessageQueueAveragelyByCircle");
            case "CONSISTENT_HASH":
                return plain("MessageQueueConsistentHash");
            case "CONFIG":
                Object config = plain("MessageQueueByConfig");
                Members.set(config, "messageQueueList", configured);
                return config;
            case "MACHINE_ROOM":
                Object room = plain("MessageQueueByMachineRoom");
                Members.set(room, "consumeridcs", asked.rooms == null ? null : new HashSet<>(asked.rooms));
                return room;
            case "MACHINE_ROOM_NEARBY":
                return nearby(strategy(asked.within == null ? "AVG" : asked.within, asked, configured));
            default:
                throw new Failure(Failure.SCRIPT, "unknown strategy " + name);
        }
    }

    private Object plain(String name) {
        Class<?> type = release.typeOrNull(REBALANCE + name);
        return type == null ? null : Members.make(type, new Class<?>[0]);
    }

    private Object nearby(Object within) {
        Class<?> type = release.typeOrNull(REBALANCE + "MachineRoomNearby");
        if (type == null) {
            return null;
        }
        Class<?> resolver = release.type("client.consumer.rebalance.AllocateMachineRoomNearby$MachineRoomResolver");
        Class<?> strategy = release.type("client.consumer.AllocateMessageQueueStrategy");
        InvocationHandler rooms = (proxy, method, arguments) -> room(arguments[0]);
        Object found = Proxy.newProxyInstance(release.loader, new Class<?>[] {resolver}, rooms);
        return Members.make(type, new Class<?>[] {strategy, resolver}, within, found);
    }

    /** What stands before the first @ of a broker name or an id; empty: there is none. */
    private String room(Object of) {
        String name = queue.isInstance(of) ? (String) Members.must(queueBroker, of) : (String) of;
        return name.substring(0, Math.max(0, name.indexOf('@')));
    }
}
