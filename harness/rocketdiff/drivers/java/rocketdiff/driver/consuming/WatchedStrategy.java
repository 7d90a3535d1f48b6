package rocketdiff.driver.consuming;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.common.message.MessageQueue;
import rocketdiff.driver.Queue;

/** The client's own strategy under its own name, by which brokers from 5.0.0 on are asked; reports each allocation. */
final class WatchedStrategy implements AllocateMessageQueueStrategy {
    private static final String PACKAGE = "org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueue";
    private static final Queue[] NO_QUEUES = {};
    private static final Pattern MEMBER = Pattern.compile("-m(\\d+)(?:-warm)?(?:@STREAM)?$");

    private final AllocateMessageQueueStrategy strategy;
    private final int incarnation;
    private final Reports reports;

    WatchedStrategy(String name, int incarnation, Reports reports) {
        this.strategy = named(name);
        this.incarnation = incarnation;
        this.reports = reports;
    }

    private static AllocateMessageQueueStrategy named(String name) {
        if (name.equals("nearby")) {
            return nearby(named("avg"));
        }
        try {
            return (AllocateMessageQueueStrategy) Class.forName(PACKAGE + classOf(name)).getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("this client has no strategy " + name, e);
        }
    }

    /** By reflection, as releases before 4.3.0 lack it. Rooms as in the plan: a broker's letter; a and b in turn for members. */
    private static AllocateMessageQueueStrategy nearby(AllocateMessageQueueStrategy inner) {
        try {
            Class<?> type = Class.forName("org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby");
            Class<?> resolver = Class.forName(type.getName() + "$MachineRoomResolver");
            Object rooms = Proxy.newProxyInstance(resolver.getClassLoader(), new Class<?>[] {resolver},
                (proxy, method, arguments) -> room(arguments[0]));
            return (AllocateMessageQueueStrategy) type.getConstructor(AllocateMessageQueueStrategy.class, resolver)
                .newInstance(inner, rooms);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("this client has no strategy nearby", e);
        }
    }

    private static String room(Object place) {
        if (place instanceof MessageQueue) {
            String broker = ((MessageQueue) place).getBrokerName();
            return broker.substring(broker.length() - 1);
        }
        Matcher member = MEMBER.matcher((String) place);
        return member.find() ? (Integer.parseInt(member.group(1)) % 2 == 0 ? "a" : "b") : "";
    }

    private static String classOf(String name) {
        switch (name) {
            case "avg":
                return "Averagely";
            case "circle":
                return "AveragelyByCircle";
            case "hash":
                return "ConsistentHash";
            default:
                throw new IllegalArgumentException("expected a strategy avg, circle, hash or nearby, saw " + name);
        }
    }

    @Override
    public List<MessageQueue> allocate(String group, String ownId, List<MessageQueue> queues, List<String> ids) {
        List<String> idsBefore = new ArrayList<>(ids);
        Queue[] queuesBefore = copy(queues);
        String topic = queues.isEmpty() ? "" : queues.get(0).getTopic();
        try {
            List<MessageQueue> result = strategy.allocate(group, ownId, queues, ids);
            reports.allocated(incarnation, topic, getName(), idsBefore, queuesBefore, copy(result), null);
            return result;
        } catch (RuntimeException e) {
            reports.allocated(incarnation, topic, getName(), idsBefore, queuesBefore, NO_QUEUES, e);
            throw e;
        }
    }

    @Override
    public String getName() {
        return strategy.getName();
    }

    private static Queue[] copy(List<MessageQueue> queues) {
        return queues.stream().map(Queue::new).toArray(Queue[]::new);
    }
}
