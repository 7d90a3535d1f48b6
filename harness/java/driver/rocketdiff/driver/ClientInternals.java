package rocketdiff.driver;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;
import org.apache.rocketmq.client.impl.producer.TopicPublishInfo;
import org.apache.rocketmq.client.producer.DefaultMQProducer;

/**
 * The few places inside the client whose descriptors differ between releases, found by name.
 *
 * <p>getTopicPublishInfoTable changed its return type, the accessor of the shared instance changed its name.
 */
final class ClientInternals {
    private ClientInternals() {
    }

    /** The producer's live table of publish lists, by topic. */
    @SuppressWarnings("unchecked")
    static Map<String, TopicPublishInfo> publishTable(DefaultMQProducer producer) {
        return (Map<String, TopicPublishInfo>) call(producer.getDefaultMQProducerImpl(), "getTopicPublishInfoTable");
    }

    /** Asks the name server for a topic's route, as a first send would; false when nothing came or nothing changed. */
    static boolean lookUpRoute(DefaultMQProducer producer, String topic) {
        Object instance = sharedInstance(producer);
        try {
            Method update = instance.getClass().getMethod("updateTopicRouteInfoFromNameServer", String.class);
            return (Boolean) update.invoke(instance, topic);
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("cannot look up the route of " + topic, e);
        }
    }

    /**
     * Takes a topic out of what the process polls.
     *
     * <p>Route updates are put into every producer of the shared instance, the client's own inner one included.
     */
    static void forgetTopic(DefaultMQProducer producer, String topic) {
        publishTable(producer).remove(topic);
        DefaultMQProducer inner = (DefaultMQProducer) call(sharedInstance(producer), "getDefaultMQProducer");
        publishTable(inner).remove(topic);
    }

    private static Object sharedInstance(DefaultMQProducer producer) {
        Object impl = producer.getDefaultMQProducerImpl();
        return call(impl, has(impl, "getmQClientFactory") ? "getmQClientFactory" : "getMqClientFactory");
    }

    private static boolean has(Object target, String method) {
        for (Method candidate : target.getClass().getMethods()) {
            if (candidate.getName().equals(method)) {
                return true;
            }
        }
        return false;
    }

    private static Object call(Object target, String method) {
        try {
            return target.getClass().getMethod(method).invoke(target);
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("this client has no usable " + method, e);
        }
    }
}
