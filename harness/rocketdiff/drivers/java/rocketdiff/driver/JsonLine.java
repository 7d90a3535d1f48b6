package rocketdiff.driver;

/** One JSON object being written as one line; members whose value is null are left out. */
public final class JsonLine {
    private final StringBuilder out;

    /** Appends to a buffer that the caller owns and may reuse. */
    public JsonLine(StringBuilder out, String type) {
        this.out = out;
        out.append("{\"type\":");
        quoted(type);
    }

    public JsonLine with(String name, long value) {
        name(name).append(value);
        return this;
    }

    public JsonLine with(String name, Integer value) {
        return value == null ? this : with(name, value.longValue());
    }

    public JsonLine with(String name, Long value) {
        return value == null ? this : with(name, value.longValue());
    }

    public JsonLine with(String name, String value) {
        if (value != null) {
            name(name);
            quoted(value);
        }
        return this;
    }

    public JsonLine with(String name, Iterable<String> values) {
        name(name).append('[');
        String separator = "";
        for (String value : values) {
            out.append(separator);
            quoted(value);
            separator = ",";
        }
        out.append(']');
        return this;
    }

    /** A list of [broker, queue id] pairs. */
    public JsonLine withQueues(String name, Queue[] queues) {
        name(name).append('[');
        for (int i = 0; i < queues.length; i++) {
            out.append(i == 0 ? "[" : ",[");
            quoted(queues[i].broker);
            out.append(',').append(queues[i].id).append(']');
        }
        out.append(']');
        return this;
    }

    /** Closes the object and the line. */
    public void end() {
        out.append("}\n");
    }

    private StringBuilder name(String name) {
        out.append(',');
        quoted(name);
        return out.append(':');
    }

    private void quoted(String value) {
        out.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20 || Character.isSurrogate(c)) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
