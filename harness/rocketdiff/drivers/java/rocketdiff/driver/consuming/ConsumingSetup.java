package rocketdiff.driver.consuming;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.common.message.MessageQueue;
import rocketdiff.driver.Fields;
import rocketdiff.driver.Setup;

/** What the runner asks of a member of a group besides what it asks of any client. */
final class ConsumingSetup {
    final Setup client;
    final String instance;
    final String topic;
    final String warmTopic;
    final String group;
    final String warmGroup;
    final String listener;
    final String model;
    final String strategy;
    final String expression;
    private final boolean commitsItself;
    final long workMs;
    /** That the application assigns to its consumer; null: it subscribes. */
    final List<MessageQueue> assigned;
    final Map<String, Object> properties;
    private final Map<String, Object> brokers;
    private final List<?> bodyBytes;

    @SuppressWarnings("unchecked")
    ConsumingSetup(Map<String, Object> line) {
        this.client = new Setup(line);
        this.instance = Fields.text(line, "instance");
        this.topic = Fields.text(line, "topic");
        this.warmTopic = Fields.text(line, "warm_topic");
        this.group = Fields.text(line, "group");
        this.warmGroup = Fields.text(line, "warm_group");
        this.listener = Fields.text(line, "listener");
        this.model = Fields.text(line, "model");
        this.strategy = Fields.text(line, "strategy");
        this.expression = line.containsKey("expression") ? Fields.text(line, "expression") : "*";
        this.commitsItself = line.containsKey("commits") && Fields.text(line, "commits").equals("sync");
        this.workMs = Fields.number(line, "work_ms");
        this.properties = line.containsKey("properties")
            ? (Map<String, Object>) Fields.of(line, "properties", Map.class)
            : Collections.emptyMap();
        this.brokers = line.containsKey("brokers")
            ? (Map<String, Object>) Fields.of(line, "brokers", Map.class)
            : Collections.emptyMap();
        this.assigned = line.containsKey("assign") ? queues((List<?>) Fields.of(line, "assign", List.class)) : null;
        this.bodyBytes = (List<?>) Fields.of(line, "body_bytes", List.class);
    }

    private List<MessageQueue> queues(List<?> named) {
        List<MessageQueue> made = new ArrayList<>();
        for (Object each : named) {
            List<?> pair = (List<?>) each;
            made.add(new MessageQueue(topic, (String) pair.get(0), Math.toIntExact((Long) pair.get(1))));
        }
        return made;
    }

    boolean isOrderly() {
        return listener.equals("orderly");
    }

    boolean isLitePull() {
        return listener.equals("lite-pull");
    }

    /** True if the application commits after its work on each poll. */
    boolean commitsItself() {
        return commitsItself;
    }

    boolean isBroadcasting() {
        return model.equals("broadcasting");
    }

    /** Name of the broker whose messages have this address. */
    String brokerAt(String address) {
        Object name = brokers.get(address);
        if (name == null) {
            throw new IllegalStateException("expected the address of a broker of " + brokers.keySet() + ", saw " + address);
        }
        return (String) name;
    }

    /** Planned size of the body of a message, in bytes. */
    int bodyBytes(int send) {
        return Math.toIntExact((Long) bodyBytes.get(send % bodyBytes.size()));
    }
}
