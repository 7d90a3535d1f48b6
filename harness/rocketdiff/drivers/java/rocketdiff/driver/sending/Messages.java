package rocketdiff.driver.sending;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.rocketmq.common.message.Message;

/** Makes the message of a send, which carries our own id in a user property and at the start of its body. */
final class Messages {
    static final String ID_PROPERTY = "rocketdiff.id";
    private static final byte PADDING = '.';

    private final String topic;
    private final String idPrefix;

    Messages(String run, String topic) {
        this.topic = topic;
        this.idPrefix = run + "/" + topic + "/";
    }

    String id(int send) {
        return idPrefix + send;
    }

    /** What the plan wants the message to carry; throws what the client refuses. */
    Message message(PlannedSend plan) {
        Message message = message(plan.send, plan.bodyBytes);
        if (!plan.keys.isEmpty()) {
            message.setKeys(plan.keys);
        }
        if (!plan.tags.isEmpty()) {
            message.setTags(plan.tags);
        }
        if (plan.delayLevel != 0) {
            message.setDelayTimeLevel(plan.delayLevel);
        }
        for (String[] pair : plan.properties) {
            message.putUserProperty(pair[0], pair[1]);
        }
        return message;
    }

    /** A body of bodyBytes, or of the id alone where that is longer. */
    Message message(int send, int bodyBytes) {
        String id = id(send);
        byte[] head = id.getBytes(StandardCharsets.UTF_8);
        byte[] body = Arrays.copyOf(head, Math.max(head.length, bodyBytes));
        Arrays.fill(body, head.length, body.length, PADDING);
        Message message = new Message(topic, body);
        message.putUserProperty(ID_PROPERTY, id);
        return message;
    }
}
