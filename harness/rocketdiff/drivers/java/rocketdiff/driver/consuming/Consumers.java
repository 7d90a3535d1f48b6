package rocketdiff.driver.consuming;

import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.MessageListener;
import org.apache.rocketmq.client.exception.MQClientException;

/** Makes consumers of one setup that report what they are allocated and what happens to their offsets. */
final class Consumers {
    /** Threads that start at once may leave a first heartbeat out; the next one would come half a minute later. */
    private static final int WARM_HEARTBEAT_MS = 1_000;

    private final ConsumingSetup setup;

    Consumers(ConsumingSetup setup) {
        this.setup = setup;
    }

    /** A member of the group. */
    PushClient member(int incarnation, Reports reports, MessageListener listener) throws MQClientException {
        DefaultMQPushConsumer made = made(setup.group, setup.instance, incarnation, reports, listener);
        PushClient client = new PushClient(made);
        ConsumerSettings.model(made, setup.model);
        ConsumerSettings.apply(made, setup.client.settings);
        made.setOffsetStore(WatchedOffsets.of(client, setup.isBroadcasting(), incarnation, reports));
        made.subscribe(setup.topic, setup.expression);
        return client;
    }

    /** A member of the group whose application polls. */
    LitePullClient polled(int incarnation, Reports reports) throws MQClientException {
        LitePullClient made = new LitePullClient(setup.group, setup.client.security.hook(null));
        made.config().setNamesrvAddr(setup.client.nameServers);
        made.config().setInstanceName(setup.instance);
        made.divideBy(new WatchedStrategy(setup.strategy, incarnation, reports));
        ConsumerSettings.model(made.config(), setup.model);
        ConsumerSettings.apply(made.config(), setup.client.settings);
        if (setup.commitsItself()) {
            made.commitNothingByPolls();
        }
        made.keepOffsetsIn(WatchedOffsets.of(made, setup.isBroadcasting(), incarnation, reports));
        if (setup.assigned == null) {
            made.subscribe(setup.topic, setup.expression);
        } else {
            made.assign(setup.assigned);
        }
        return made;
    }

    /** The member of the warm group; another instance, so that nothing of it is shared. */
    PushClient warm(Reports reports, MessageListener listener) throws MQClientException {
        DefaultMQPushConsumer made = made(setup.warmGroup, setup.instance + "-warm", 0, reports, listener);
        made.setHeartbeatBrokerInterval(WARM_HEARTBEAT_MS);
        ConsumerSettings.startFrom(made, "first");
        PushClient client = new PushClient(made);
        made.setOffsetStore(WatchedOffsets.of(client, false, 0, reports));
        made.subscribe(setup.warmTopic, "*");
        return client;
    }

    private DefaultMQPushConsumer made(String group, String instance, int incarnation, Reports reports,
                                       MessageListener listener) {
        WatchedStrategy strategy = new WatchedStrategy(setup.strategy, incarnation, reports);
        DefaultMQPushConsumer made = new DefaultMQPushConsumer(group, setup.client.security.hook(null), strategy);
        made.setNamesrvAddr(setup.client.nameServers);
        made.setInstanceName(instance);
        made.setMessageListener(listener);
        return made;
    }
}
