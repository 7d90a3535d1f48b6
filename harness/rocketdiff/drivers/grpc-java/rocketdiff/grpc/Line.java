package rocketdiff.grpc;

/** One JSON object being written as one line; a member whose value is null is left out. */
final class Line {
    private final StringBuilder out = new StringBuilder("{\"type\":");

    Line(String type) {
        quoted(type);
    }

    Line with(String name, Long value) {
        return value == null ? this : raw(name, value.toString());
    }

    Line with(String name, long value) {
        return raw(name, Long.toString(value));
    }

    Line with(String name, String value) {
        if (value != null) {
            name(name);
            quoted(value);
        }
        return this;
    }

    Line raw(String name, String json) {
        name(name);
        out.append(json);
        return this;
    }

    String text() {
        return out + "}\n";
    }

    private void name(String name) {
        out.append(',');
        quoted(name);
        out.append(':');
    }

    private void quoted(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
