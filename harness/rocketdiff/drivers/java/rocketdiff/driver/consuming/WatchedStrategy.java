package rocketdiff.driver.consuming;

import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.common.message.MessageQueue;
import rocketdiff.driver.Queue;

/** The client's own strategy under its own name, by which brokers from 5.0.0 on are asked; reports each allocation. */
final class WatchedStrategy implements AllocateMessageQueueStrategy {
    private static final String PACKAGE = "org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueue";
    private static final Queue[] NO_QUEUES = {};

    private final AllocateMessageQueueStrategy strategy;
    private final int incarnation;
    private final Reports reports;

    WatchedStrategy(String name, int incarnation, Reports reports) {
        this.strategy = named(name);
        this.incarnation = incarnation;
        this.reports = reports;
    }

    private static AllocateMessageQueueStrategy named(String name) {
        try {
            return (AllocateMessageQueueStrategy) Class.forName(PACKAGE + classOf(name)).getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("this client has no strategy " + name, e);
        }
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
                throw new IllegalArgumentException("expected a strategy avg, circle or hash, saw " + name);
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
