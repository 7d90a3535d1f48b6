package rocketdiff.driver;

import java.util.List;
import java.util.Map;
import rocketdiff.json.JsonReader;
import rocketdiff.line.JsonLine;

/** For tests: reads the JSON of its arguments and prints each value with the class it became. */
public final class JsonEcho {
    private JsonEcho() {
    }

    public static void main(String[] args) {
        for (String text : args) {
            System.out.println(told(text));
        }
        StringBuilder line = new StringBuilder();
        new JsonLine(line, "echo").with("text", "a\"b\\c\n\u00e9\ud83d\ude80").with("absent", (String) null)
            .with("number", Long.MIN_VALUE).end();
        System.out.print(line);
    }

    private static String told(String text) {
        try {
            return shown(JsonReader.read(text));
        } catch (IllegalArgumentException e) {
            return "refused: " + e.getMessage();
        }
    }

    private static String shown(Object value) {
        if (value instanceof Map) {
            StringBuilder out = new StringBuilder("{");
            for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                out.append(member.getKey()).append('=').append(shown(member.getValue())).append(' ');
            }
            return out.append('}').toString();
        }
        if (value instanceof List) {
            StringBuilder out = new StringBuilder("[");
            for (Object item : (List<?>) value) {
                out.append(shown(item)).append(' ');
            }
            return out.append(']').toString();
        }
        return value == null ? "null" : value.getClass().getSimpleName() + ":" + value;
    }
}
