package rocketdiff.driver;

import java.util.Map;

/** Typed access to the members of a JSON object; a missing or wrong one names itself. */
public final class Fields {
    private Fields() {
    }

    public static long number(Map<String, Object> object, String name) {
        return (Long) of(object, name, Long.class);
    }

    public static int integer(Map<String, Object> object, String name) {
        return Math.toIntExact(number(object, name));
    }

    public static boolean flag(Map<String, Object> object, String name) {
        return (Boolean) of(object, name, Boolean.class);
    }

    public static String text(Map<String, Object> object, String name) {
        return (String) of(object, name, String.class);
    }

    public static Object of(Map<String, Object> object, String name, Class<?> type) {
        Object value = object.get(name);
        if (!type.isInstance(value)) {
            String expected = "expected " + name + " to be a " + type.getSimpleName();
            throw new IllegalArgumentException(expected + ", saw " + value);
        }
        return value;
    }
}
