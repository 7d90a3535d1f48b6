package rocketdiff.driver.sending;

import java.util.Map;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.remoting.RPCHook;
import rocketdiff.driver.Fields;
import rocketdiff.driver.Setup;

/**
 * Makes started producers for one setup.
 *
 * <p>All of them carry the same instance name, hence the same client id: they share connections, threads and the route
 * table, while publish lists (with the index), fault tables and hooks stay each producer's own.
 */
final class Producers {
    private final Setup setup;
    private final String instanceName;
    private final AsyncSends asyncSends;
    private final RequestHook requestHook;

    /** requestHook: null where no send is asynchronous, so that the client is then as its users have it. */
    Producers(Setup setup, AsyncSends asyncSends, RequestHook requestHook) {
        this.setup = setup;
        this.asyncSends = asyncSends;
        this.requestHook = requestHook;
        this.instanceName = "rocketdiff-" + System.nanoTime();
    }

    /** A started producer of a group, whose attempts are noted by a hook. */
    DefaultMQProducer start(String group, int sendTimeoutMs) throws MQClientException {
        Map<String, Object> settings = setup.settings;
        RPCHook hook = setup.security.hook(requestHook);
        DefaultMQProducer producer = hook == null ? new DefaultMQProducer(group) : new DefaultMQProducer(group, hook);
        producer.setNamesrvAddr(setup.nameServers);
        producer.setInstanceName(instanceName);
        producer.setSendMsgTimeout(sendTimeoutMs);
        producer.setSendLatencyFaultEnable(Fields.flag(settings, "send_latency_fault_enable"));
        producer.setRetryTimesWhenSendFailed(Fields.integer(settings, "retry_times_when_send_failed"));
        producer.setRetryTimesWhenSendAsyncFailed(Fields.integer(settings, "retry_times_when_send_async_failed"));
        producer.setRetryAnotherBrokerWhenNotStoreOK(Fields.flag(settings, "retry_another_broker_when_not_store_ok"));
        producer.setCompressMsgBodyOverHowmuch(Fields.integer(settings, "compress_msg_body_over_howmuch"));
        producer.setMaxMessageSize(Fields.integer(settings, "max_message_size"));
        producer.setHeartbeatBrokerInterval(Fields.integer(settings, "heartbeat_broker_interval_ms"));
        OptionalSettings.apply(producer, settings);
        producer.getDefaultMQProducerImpl().registerSendMessageHook(new AttemptHook(asyncSends));
        producer.start();
        return producer;
    }
}
