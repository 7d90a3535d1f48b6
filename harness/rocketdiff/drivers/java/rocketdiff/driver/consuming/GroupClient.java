package rocketdiff.driver.consuming;

import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.common.message.MessageQueue;

/** A consumer of the client under test, of either kind. */
interface GroupClient {
    void start() throws MQClientException;

    void shutdown();

    /** The object that the application has, with its settings. */
    ClientConfig config();

    String group();

    /** Null before the start. */
    MQClientInstance instance();

    RebalanceImpl rebalance();

    /** The queues that it works on, each with its messages; found by name, as the declared type changed at 4.1.0. */
    @SuppressWarnings("unchecked")
    default Map<MessageQueue, ProcessQueue> processing() {
        try {
            return (Map<MessageQueue, ProcessQueue>) RebalanceImpl.class.getMethod("getProcessQueueTable").invoke(rebalance());
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("this client has no table of queues", e);
        }
    }
}
