package rocketdiff.driver.consuming;

import java.lang.reflect.Field;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.client.impl.consumer.RebalanceService;
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

    /** A round at once. */
    void divideNow() {
        consumer.getDefaultMQPushConsumerImpl().doRebalance();
    }

    /** Ends the rounds of a client whose first comes a second after its start; false before 5.2.0, where it comes at once. */
    boolean endLateRounds() {
        try {
            RebalanceService.class.getDeclaredField("minInterval");
            Field service = MQClientInstance.class.getDeclaredField("rebalanceService");
            service.setAccessible(true);
            ((RebalanceService) service.get(instance())).shutdown();
            return true;
        } catch (ReflectiveOperationException e) {
            return false;
        }
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
