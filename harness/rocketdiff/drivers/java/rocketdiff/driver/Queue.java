package rocketdiff.driver;

import org.apache.rocketmq.common.message.MessageQueue;

/**
 * One queue of the topic, copied out of the client.
 *
 * <p>A copy, because releases up to 5.1.3 write into the MessageQueue objects of their publish list.
 */
public final class Queue implements Comparable<Queue> {
    public final String broker;
    public final int id;

    public Queue(MessageQueue queue) {
        this(queue.getBrokerName(), queue.getQueueId());
    }

    public Queue(String broker, int id) {
        this.broker = broker;
        this.id = id;
    }

    @Override
    public int compareTo(Queue other) {
        int byBroker = broker.compareTo(other.broker);
        return byBroker != 0 ? byBroker : Integer.compare(id, other.id);
    }
}
