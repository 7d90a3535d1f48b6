package rocketdiff.simulation.consuming;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import rocketdiff.simulation.json.JsonText;

/** What the brokers of a script know of the group, and what the member has asked them since the last report. */
public final class Group {
    /** The ids that a broker lists; null: it answers with an error. */
    public List<String> ids = new ArrayList<>();
    /** The committed offset of a queue; absent: the group has none. */
    public final Map<String, Long> offsets = new HashMap<>();
    private final TreeMap<Long, List<String>> asked = new TreeMap<>();

    void note(long nowMs, String request) {
        asked.computeIfAbsent(nowMs, any -> new ArrayList<>()).add(request);
    }

    /** What was asked, by time; the order within a millisecond is that of the text. */
    public String report() {
        StringBuilder out = new StringBuilder("[");
        asked.forEach((atMs, requests) -> {
            requests.sort(null);
            out.append(out.length() == 1 ? "" : ", ").append("{\"at_ms\": ").append(atMs).append(", \"asked\": [");
            String separator = "";
            for (String request : requests) {
                JsonText.append(out.append(separator), request);
                separator = ", ";
            }
            out.append("]}");
        });
        asked.clear();
        return out.append(']').toString();
    }
}
