package rocketdiff.simulation.json;

/** Values as Python's json.dumps(…, ensure_ascii=False) writes them. */
public final class JsonText {
    private JsonText() {
    }

    /** A string, or null. */
    public static void append(StringBuilder out, String value) {
        if (value == null) {
            out.append("null");
            return;
        }
        out.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20) {
                control(out, c);
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    public static String of(String value) {
        StringBuilder out = new StringBuilder();
        append(out, value);
        return out.toString();
    }

    private static void control(StringBuilder out, char c) {
        int known = "\b\f\n\r\t".indexOf(c);
        if (known >= 0) {
            out.append('\\').append("bfnrt".charAt(known));
        } else {
            out.append(String.format("\\u%04x", (int) c));
        }
    }
}
