package rocketdiff.driver.sending;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import rocketdiff.driver.Fields;

/** One call by the application, as the runner planned it; what a line leaves out has its default. */
final class PlannedSend {
    final int send;
    final int thread;
    final long dueNs;
    final String kind;
    final int argument;
    final int bodyBytes;
    final String mode;
    final int delayLevel;
    final String keys;
    final String tags;
    final List<String[]> properties;

    private PlannedSend(Map<String, Object> line) {
        this.send = Fields.integer(line, "send");
        this.thread = Fields.integer(line, "thread");
        this.dueNs = Fields.number(line, "due_ns");
        this.kind = Fields.text(line, "kind");
        this.argument = Fields.integer(line, "argument");
        this.bodyBytes = Fields.integer(line, "body_bytes");
        this.mode = line.containsKey("mode") ? Fields.text(line, "mode") : "sync";
        this.delayLevel = line.containsKey("delay_level") ? Fields.integer(line, "delay_level") : 0;
        this.keys = line.containsKey("keys") ? Fields.text(line, "keys") : "";
        this.tags = line.containsKey("tags") ? Fields.text(line, "tags") : "";
        this.properties = line.containsKey("properties") ? pairs(line) : Collections.<String[]>emptyList();
    }

    private PlannedSend(int send, String kind, int argument, int bodyBytes) {
        this.send = send;
        this.thread = 0;
        this.dueNs = 0;
        this.kind = kind;
        this.argument = argument;
        this.bodyBytes = bodyBytes;
        this.mode = "sync";
        this.delayLevel = 0;
        this.keys = "";
        this.tags = "";
        this.properties = Collections.emptyList();
    }

    static PlannedSend of(Map<String, Object> line) {
        return new PlannedSend(line);
    }

    /** A send of the warm-up. */
    static PlannedSend plain(int send, String kind, int argument, int bodyBytes) {
        return new PlannedSend(send, kind, argument, bodyBytes);
    }

    boolean isAsync() {
        return mode.equals("async");
    }

    private static List<String[]> pairs(Map<String, Object> line) {
        List<String[]> pairs = new ArrayList<>();
        for (Object pair : (List<?>) Fields.of(line, "properties", List.class)) {
            List<?> both = (List<?>) pair;
            pairs.add(new String[] {(String) both.get(0), (String) both.get(1)});
        }
        return pairs;
    }
}
