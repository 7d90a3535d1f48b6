package rocketdiff.driver.sending;

import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.impl.producer.DefaultMQProducerImpl;
import org.apache.rocketmq.client.impl.producer.TopicPublishInfo;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import rocketdiff.driver.Queue;

/** The few things read or asked behind the client's public interface, alike in every release but for one descriptor. */
final class ClientInternals {
    private ClientInternals() {
    }

    /** The producer's live table of publish lists, by topic; found by name, as its declared type changed at 4.1.0. */
    @SuppressWarnings("unchecked")
    static Map<String, TopicPublishInfo> publishTable(DefaultMQProducer producer) {
        try {
            Object table = DefaultMQProducerImpl.class.getMethod("getTopicPublishInfoTable")
                .invoke(producer.getDefaultMQProducerImpl());
            return (Map<String, TopicPublishInfo>) table;
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("this client has no table of publish lists", e);
        }
    }

    /** Asks the name server for a topic's route, as a first send would; false when nothing came or nothing changed. */
    static boolean lookUpRoute(DefaultMQProducer producer, String topic) {
        return instance(producer).updateTopicRouteInfoFromNameServer(topic);
    }

    /**
     * Takes a topic out of what the process polls.
     *
     * <p>Route updates are put into every producer of the shared instance, the client's own inner one included.
     */
    static void forgetTopic(DefaultMQProducer producer, String topic) {
        publishTable(producer).remove(topic);
        publishTable(instance(producer).getDefaultMQProducer()).remove(topic);
    }

    /** Name of the broker of these queues whose master has an address; null where none has. */
    static String brokerAt(DefaultMQProducer producer, Queue[] queues, String address) {
        MQClientInstance instance = instance(producer);
        for (Queue queue : queues) {
            String master = instance.findBrokerAddressInPublish(queue.broker);
            if (address.equals(master) || address.equals(vipChannel(master))) {
                return queue.broker;
            }
        }
        return null;
    }

    /** Where first requests go in releases up to 4.5.0: two ports below. */
    private static String vipChannel(String address) {
        int colon = address == null ? -1 : address.lastIndexOf(':');
        return colon < 0 ? null : address.substring(0, colon + 1) + (Integer.parseInt(address.substring(colon + 1)) - 2);
    }

    private static MQClientInstance instance(DefaultMQProducer producer) {
        return producer.getDefaultMQProducerImpl().getmQClientFactory();
    }
}
