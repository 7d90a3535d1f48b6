package rocketdiff.simulation.client;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Finding members, each once: the JDK copies every method of a class at each look. Absent ones are null. */
final class MemberSearch {
    private static final Map<List<Object>, Object> FOUND = new HashMap<>();
    private static final Object ABSENT = new Object();

    private MemberSearch() {
    }

    /** The first of these names that the class or one above it has. */
    static Field field(Class<?> type, String... names) {
        return once(() -> findField(type, names), type, String.join(" ", names));
    }

    /** The method of this name with this many parameters, of the class or one above it. */
    static Method method(Class<?> type, String name, int parameters) {
        return once(() -> findMethod(type, name, parameters), type, name, parameters);
    }

    /** The public method with exactly these parameters. */
    static Method method(Class<?> type, String name, Class<?>... parameters) {
        return once(() -> findMethod(type, name, parameters), type, name, Arrays.asList(parameters));
    }

    static Constructor<?> constructor(Class<?> type, Class<?>... parameters) {
        return once(() -> findConstructor(type, parameters), type, Arrays.asList(parameters));
    }

    @SuppressWarnings("unchecked")
    private static <T> T once(Supplier<T> search, Object... key) {
        Object found = FOUND.get(Arrays.asList(key));
        if (found == null) {
            found = search.get();
            FOUND.put(Arrays.asList(key), found == null ? ABSENT : found);
        }
        return found == ABSENT ? null : (T) found;
    }

    private static Field findField(Class<?> type, String... names) {
        for (String name : names) {
            for (Class<?> holder = type; holder != null; holder = holder.getSuperclass()) {
                try {
                    Field field = holder.getDeclaredField(name);
                    field.setAccessible(true);
                    return field;
                } catch (NoSuchFieldException elsewhere) {
                    continue;
                }
            }
        }
        return null;
    }

    private static Method findMethod(Class<?> type, String name, int parameters) {
        for (Class<?> holder = type; holder != null; holder = holder.getSuperclass()) {
            for (Method method : holder.getDeclaredMethods()) {
                if (method.getName().equals(name) && method.getParameterCount() == parameters && !method.isBridge()) {
                    method.setAccessible(true);
                    return method;
                }
            }
        }
        return null;
    }

    private static Method findMethod(Class<?> type, String name, Class<?>... parameters) {
        try {
            Method method = type.getMethod(name, parameters);
            method.setAccessible(true);
            return method;
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    private static Constructor<?> findConstructor(Class<?> type, Class<?>... parameters) {
        try {
            Constructor<?> constructor = type.getDeclaredConstructor(parameters);
            constructor.setAccessible(true);
            return constructor;
        } catch (NoSuchMethodException e) {
            return null;
        }
    }
}
