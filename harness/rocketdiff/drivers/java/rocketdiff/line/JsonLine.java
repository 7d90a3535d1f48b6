package rocketdiff.line;

/** One JSON object being written as one line; members whose value is null are left out. */
public final class JsonLine {
    private final StringBuilder out;

    public JsonLine(String type) {
        this(new StringBuilder(), type);
    }

    /** Appends to a buffer that the caller owns and may reuse. */
    public JsonLine(StringBuilder out, String type) {
        this.out = out;
        out.append("{\"type\":");
        quote(out, type);
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
            quote(name(name), value);
        }
        return this;
    }

    public JsonLine with(String name, Iterable<String> values) {
        name(name).append('[');
        String separator = "";
        for (String value : values) {
            out.append(separator);
            quote(out, value);
            separator = ",";
        }
        out.append(']');
        return this;
    }

    /** A member whose value is JSON already. */
    public JsonLine raw(String name, CharSequence json) {
        name(name).append(json);
        return this;
    }

    /** Closes the object and the line. */
    public void end() {
        out.append("}\n");
    }

    /** Closes the object and returns the line. */
    public String text() {
        end();
        return out.toString();
    }

    private StringBuilder name(String name) {
        quote(out.append(','), name);
        return out.append(':');
    }

    public static void quote(StringBuilder out, String value) {
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
