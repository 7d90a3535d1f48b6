package rocketdiff.driver.consuming;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Map;
import org.apache.rocketmq.common.message.MessageExt;
import rocketdiff.line.JsonLine;

/** One message of a call, copied when the listener was called: the client changes the message afterwards. */
final class SeenMessage {
    private static final String UNIQUE_KEY = "UNIQ_KEY";
    private static final String ORIGIN = "ORIGIN_MESSAGE_ID";

    final Integer send;
    final int times;
    private final long offset;
    private final String topic;
    private final String key;
    private final String origin;
    private final long storeMs;
    private final String storeHost;
    private final boolean isBodyOk;
    private final String properties;

    /** queueTopic: of the queue that the listener was called for. send: null if the message is none of ours. */
    SeenMessage(MessageExt message, String queueTopic, Integer send, boolean isBodyOk, String properties) {
        Map<String, String> all = message.getProperties();
        this.send = send;
        this.times = message.getReconsumeTimes();
        this.offset = message.getQueueOffset();
        this.topic = message.getTopic().equals(queueTopic) ? null : message.getTopic();
        this.key = all.get(UNIQUE_KEY);
        this.origin = all.get(ORIGIN);
        this.storeMs = message.getStoreTimestamp();
        this.storeHost = hostAndPort(message.getStoreHost());
        this.isBodyOk = isBodyOk;
        this.properties = properties;
    }

    void write(StringBuilder out) {
        out.append("{\"offset\":").append(offset).append(",\"times\":").append(times);
        if (send != null) {
            out.append(",\"send\":").append(send);
        }
        text(out, "topic", topic);
        text(out, "key", key);
        text(out, "origin", origin);
        out.append(",\"store_ms\":").append(storeMs);
        text(out, "store_host", storeHost);
        out.append(",\"body_ok\":").append(isBodyOk);
        text(out, "properties", properties);
        out.append('}');
    }

    private static void text(StringBuilder out, String name, String value) {
        if (value != null) {
            JsonLine.quote(out.append(",\"").append(name).append("\":"), value);
        }
    }

    static String hostAndPort(SocketAddress address) {
        if (!(address instanceof InetSocketAddress)) {
            return null;
        }
        InetSocketAddress host = (InetSocketAddress) address;
        return host.getAddress().getHostAddress() + ":" + host.getPort();
    }
}
