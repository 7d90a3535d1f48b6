package rocketdiff.simulation.sending;

import java.util.Map;

/** What a script's message carries. */
public final class Content {
    final String topic;
    final Map<?, ?> properties;
    final String keys;
    final String tags;
    final Integer delayLevel;
    final int flag;
    final int bodyBytes;
    /** Characters of a further property; 0: none. */
    final int padding;
    /** How many equal messages are sent as one; 0: no batch. */
    final int batch;

    public Content(String topic, Map<?, ?> properties, String keys, String tags, Integer delayLevel, int flag,
            int bodyBytes, int padding, int batch) {
        this.topic = topic;
        this.properties = properties;
        this.keys = keys;
        this.tags = tags;
        this.delayLevel = delayLevel;
        this.flag = flag;
        this.bodyBytes = bodyBytes;
        this.padding = padding;
        this.batch = batch;
    }
}
