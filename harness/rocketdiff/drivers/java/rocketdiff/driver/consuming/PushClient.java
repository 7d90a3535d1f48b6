package rocketdiff.driver.consuming;

import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;

/** A push consumer. */
final class PushClient implements GroupClient {
    private final DefaultMQPushConsumer consumer;

    PushClient(DefaultMQPushConsumer consumer) {
        this.consumer = consumer;
    }

    @Override
    public void start() throws MQClientException {
        consumer.start();
    }

    @Override
    public void shutdown() {
        consumer.shutdown();
    }

    @Override
    public ClientConfig config() {
        return consumer;
    }

    @Override
    public String group() {
        return consumer.getConsumerGroup();
    }

    @Override
    public MQClientInstance instance() {
        return consumer.getDefaultMQPushConsumerImpl().getmQClientFactory();
    }

    @Override
    public RebalanceImpl rebalance() {
        return consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl();
    }
}
