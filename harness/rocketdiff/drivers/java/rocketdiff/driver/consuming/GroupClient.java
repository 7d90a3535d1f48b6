package rocketdiff.driver.consuming;

import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;

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
}
