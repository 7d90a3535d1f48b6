package rocketdiff.simulation.sending;

import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Protocol;
import rocketdiff.simulation.client.Release;

/** Makes messages of a release; throws what the release refuses. */
final class Messages {
    private static final byte[] BODY = {'.', '.'};

    final Class<?> type;
    private final Method putUserProperty;

    Messages(Release release) {
        type = release.type("common.message.Message");
        putUserProperty = Members.method(type, "putUserProperty", 2);
    }

    Object message(Content content, String mark) throws Throwable {
        Object made = made(content == null ? SelectionClient.TOPIC : content.topic, body(content));
        Members.must(putUserProperty, made, Protocol.MARK, mark);
        if (content == null) {
            return made;
        }
        if (content.keys != null) {
            set(made, "setKeys", String.class, content.keys);
        }
        if (content.tags != null) {
            set(made, "setTags", String.class, content.tags);
        }
        if (content.delayLevel != null) {
            set(made, "setDelayTimeLevel", int.class, content.delayLevel);
        }
        set(made, "setFlag", int.class, content.flag);
        for (Map.Entry<?, ?> property : content.properties.entrySet()) {
            Members.call(putUserProperty, made, property.getKey(), property.getValue());
        }
        if (content.padding > 0) {
            Members.call(putUserProperty, made, "padding", new String(dots(content.padding), StandardCharsets.US_ASCII));
        }
        return made;
    }

    private Object made(String topic, byte[] body) {
        return Members.make(type, new Class<?>[] {String.class, byte[].class}, topic, body);
    }

    private void set(Object message, String setter, Class<?> type, Object value) throws Throwable {
        Members.call(Members.method(this.type, setter, type), message, value);
    }

    private static byte[] body(Content content) {
        return content == null ? BODY : dots(content.bodyBytes);
    }

    private static byte[] dots(int count) {
        byte[] dots = new byte[count];
        Arrays.fill(dots, (byte) '.');
        return dots;
    }
}
