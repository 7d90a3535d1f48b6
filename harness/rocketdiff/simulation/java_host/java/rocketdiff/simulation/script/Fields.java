package rocketdiff.simulation.script;

import java.util.List;
import java.util.Map;
import rocketdiff.simulation.scheduler.Failure;

/** Typed access to the members of a step. */
final class Fields {
    private final String of;
    private final Map<?, ?> members;

    Fields(String of, Object members) {
        if (!(members instanceof Map)) {
            throw new Failure(Failure.SCRIPT, of + ": expected an object, saw " + members);
        }
        this.of = of;
        this.members = (Map<?, ?>) members;
    }

    boolean has(String name) {
        return members.get(name) != null;
    }

    List<?> list(String name) {
        return (List<?>) required(name, List.class);
    }

    Object any(String name) {
        return members.get(name);
    }

    String text(String name) {
        return (String) required(name, String.class);
    }

    String textOrNull(String name) {
        return has(name) ? text(name) : null;
    }

    long number(String name) {
        return (Long) required(name, Long.class);
    }

    long number(String name, long otherwise) {
        return has(name) ? number(name) : otherwise;
    }

    int integer(String name, int otherwise) {
        return Math.toIntExact(number(name, otherwise));
    }

    boolean flag(String name) {
        return (Boolean) required(name, Boolean.class);
    }

    boolean flag(String name, boolean otherwise) {
        return has(name) ? flag(name) : otherwise;
    }

    Fields object(String name) {
        return new Fields(of + "." + name, members.get(name));
    }

    private Object required(String name, Class<?> type) {
        Object value = members.get(name);
        if (!type.isInstance(value)) {
            String expected = of + "." + name + ": expected " + type.getSimpleName();
            throw new Failure(Failure.SCRIPT, expected + ", saw " + value);
        }
        return value;
    }
}
