package rocketdiff.simulation.text;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One JSON text as Map, List, String, Long, Double, Boolean or null.
 *
 * <p>Scripts were checked before they came here; this reads fast and complains briefly.
 */
public final class JsonReader {
    private final char[] text;
    private int at;

    private JsonReader(String text) {
        this.text = text.toCharArray();
    }

    public static Object read(String text) {
        JsonReader reader = new JsonReader(text);
        try {
            Object value = reader.value();
            if (reader.peek() == 0) {
                return value;
            }
        } catch (ArrayIndexOutOfBoundsException end) {
            // A string that nothing ends.
        }
        throw reader.unexpected();
    }

    private Object value() {
        char c = peek();
        if (c == '{') {
            return object();
        } else if (c == '[') {
            return list();
        } else if (c == '"') {
            return string();
        } else if (c == '-' || c >= '0' && c <= '9') {
            return number();
        }
        return literal();
    }

    private Map<String, Object> object() {
        Map<String, Object> object = new LinkedHashMap<>();
        at++;
        for (boolean more = peek() != '}'; more; more = isNext(',')) {
            peek();
            String name = string();
            require(':');
            object.put(name, value());
        }
        require('}');
        return object;
    }

    private List<Object> list() {
        List<Object> list = new ArrayList<>();
        at++;
        for (boolean more = peek() != ']'; more; more = isNext(',')) {
            list.add(value());
        }
        require(']');
        return list;
    }

    private String string() {
        require('"');
        int start = at;
        while (text[at] != '\\') {
            if (text[at++] == '"') {
                return new String(text, start, at - 1 - start);
            }
        }
        at = start;
        StringBuilder out = new StringBuilder();
        while (text[at] != '"') {
            char c = text[at++];
            out.append(c == '\\' ? escaped(text[at++]) : c);
        }
        at++;
        return out.toString();
    }

    private char escaped(char c) {
        switch (c) {
            case 'n':
                return '\n';
            case 't':
                return '\t';
            case 'r':
                return '\r';
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'u':
                at += 4;
                return (char) Integer.parseInt(new String(text, at - 4, 4), 16);
            default:
                return c;
        }
    }

    private Object number() {
        int start = at;
        boolean whole = true;
        for (; at < text.length; at++) {
            char c = text[at];
            if (c == '.' || c == 'e' || c == 'E') {
                whole = false;
            } else if (c != '-' && c != '+' && (c < '0' || c > '9')) {
                break;
            }
        }
        String digits = new String(text, start, at - start);
        return whole ? (Object) Long.valueOf(digits) : (Object) Double.valueOf(digits);
    }

    private Object literal() {
        for (String word : new String[] {"true", "false", "null"}) {
            if (at + word.length() <= text.length && word.equals(new String(text, at, word.length()))) {
                at += word.length();
                return word.equals("null") ? null : Boolean.valueOf(word);
            }
        }
        throw unexpected();
    }

    /** The next character that is no blank; 0 at the end. */
    private char peek() {
        while (at < text.length && text[at] <= ' ') {
            at++;
        }
        return at < text.length ? text[at] : 0;
    }

    private boolean isNext(char c) {
        boolean is = peek() == c;
        if (is) {
            at++;
        }
        return is;
    }

    private void require(char c) {
        if (!isNext(c)) {
            throw unexpected();
        }
    }

    private IllegalArgumentException unexpected() {
        int begin = Math.min(at, text.length);
        String rest = new String(text, begin, Math.min(40, text.length - begin));
        return new IllegalArgumentException("not JSON at character " + at + ": " + rest);
    }
}
