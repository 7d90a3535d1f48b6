package rocketdiff.driver.consuming;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.common.message.MessageExt;
import rocketdiff.line.JsonLine;

/** Recognises the fed messages by our own id, and compares each with what was fed and with its first delivery. */
final class MessageReader {
    private static final String ID_PROPERTY = "rocketdiff.id";
    private static final byte PADDING = '.';
    /** The client itself sets these anew at each delivery. */
    private static final Set<String> OF_A_DELIVERY =
        new HashSet<>(Arrays.asList("MIN_OFFSET", "MAX_OFFSET", "CONSUME_START_TIME"));
    /** A message to which its sender gave none has these, too. */
    private static final Set<String> OF_EVERY_MESSAGE =
        new HashSet<>(Arrays.asList(ID_PROPERTY, "UNIQ_KEY", "WAIT", "CLUSTER", "MSG_REGION", "TRACE_ON"));

    private final ConsumingSetup setup;
    private final String idPrefix;
    private final Map<Integer, String> first = new ConcurrentHashMap<>();

    MessageReader(ConsumingSetup setup) {
        this.setup = setup;
        this.idPrefix = setup.client.run + "/" + setup.topic + "/";
    }

    List<SeenMessage> read(Collection<MessageExt> messages, String queueTopic) {
        List<SeenMessage> seen = new ArrayList<>();
        for (MessageExt message : messages) {
            Integer send = sendOf(message.getProperties().get(ID_PROPERTY));
            boolean isBodyOk = send != null && Arrays.equals(message.getBody(), fedBody(send));
            seen.add(new SeenMessage(message, queueTopic, send, isBodyOk, changed(send, message.getProperties())));
        }
        return seen;
    }

    private Integer sendOf(String id) {
        if (id == null || !id.startsWith(idPrefix)) {
            return null;
        }
        try {
            return Integer.valueOf(id.substring(idPrefix.length()));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private byte[] fedBody(int send) {
        byte[] head = (idPrefix + send).getBytes(StandardCharsets.UTF_8);
        byte[] body = Arrays.copyOf(head, Math.max(head.length, setup.bodyBytes(send)));
        Arrays.fill(body, head.length, body.length, PADDING);
        return body;
    }

    /**
     * All properties as JSON text if they differ from those of the first delivery in this process, or this is the first one
     * and its sender gave it some; else null.
     */
    private String changed(Integer send, Map<String, String> properties) {
        boolean isPlain = true;
        StringBuilder text = new StringBuilder("{");
        for (Map.Entry<String, String> each : new TreeMap<>(properties).entrySet()) {
            if (!OF_A_DELIVERY.contains(each.getKey())) {
                isPlain &= OF_EVERY_MESSAGE.contains(each.getKey());
                JsonLine.quote(text.append(text.length() == 1 ? "" : ","), each.getKey());
                JsonLine.quote(text.append(':'), each.getValue());
            }
        }
        String now = text.append('}').toString();
        if (send == null) {
            return null;
        }
        String before = first.putIfAbsent(send, now);
        return before == null ? (isPlain ? null : now) : (before.equals(now) ? null : now);
    }
}
