package rocketdiff.simulation.sending;

import java.lang.reflect.Method;
import rocketdiff.simulation.client.Members;

/** What a SendResult says. */
final class SentTo {
    private static Methods latest;

    final String status;
    final String broker;
    final int queueId;

    /** The getters of one release's SendResult, looked up once. */
    private static final class Methods {
        final Class<?> type;
        final Method status;
        final Method queue;
        Method broker;
        Method queueId;

        Methods(Class<?> type) {
            this.type = type;
            status = Members.method(type, "getSendStatus", 0);
            queue = Members.method(type, "getMessageQueue", 0);
            broker = Members.method(queue.getReturnType(), "getBrokerName", 0);
            queueId = Members.method(queue.getReturnType(), "getQueueId", 0);
        }
    }

    private SentTo(String status, String broker, int queueId) {
        this.status = status;
        this.broker = broker;
        this.queueId = queueId;
    }

    static SentTo of(Object result) {
        if (latest == null || latest.type != result.getClass()) {
            latest = new Methods(result.getClass());
        }
        Object queue = Members.must(latest.queue, result);
        return new SentTo(String.valueOf(Members.must(latest.status, result)),
            (String) Members.must(latest.broker, queue), (Integer) Members.must(latest.queueId, queue));
    }
}
