package rocketdiff.simulation.client;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Members of a release's classes by name and number of parameters; one that must be there and is not ends the run. */
public final class Members {
    private Members() {
    }

    /** The first field of one of these names in the class or above it. */
    public static Field field(Class<?> type, String... names) {
        return present(fieldOrNull(type, names), "field " + String.join(" or ", names), type);
    }

    public static Field fieldOrNull(Class<?> type, String... names) {
        return MemberSearch.field(type, names);
    }

    public static Object get(Object object, String... names) {
        return get(field(object.getClass(), names), object);
    }

    public static Object get(Field field, Object object) {
        try {
            return field.get(object);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("cannot read " + field, e);
        }
    }

    public static void set(Object object, String name, Object value) {
        try {
            field(object.getClass(), name).set(object, value);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("cannot write " + name, e);
        }
    }

    /** The method of this name with this many parameters. */
    public static Method method(Class<?> type, String name, int parameters) {
        return present(methodOrNull(type, name, parameters), "method " + name + "/" + parameters, type);
    }

    public static Method methodOrNull(Class<?> type, String name, int parameters) {
        return MemberSearch.method(type, name, parameters);
    }

    /** The public method with exactly these parameter types. */
    public static Method method(Class<?> type, String name, Class<?>... parameters) {
        return present(MemberSearch.method(type, name, parameters), "method " + name, type);
    }

    public static Method methodOrNull(Class<?> type, String name, Class<?>... parameters) {
        return MemberSearch.method(type, name, parameters);
    }

    private static <T> T present(T member, String what, Class<?> type) {
        if (member == null) {
            throw new IllegalStateException("no " + what + " in " + type);
        }
        return member;
    }

    /** Calls; what the method throws comes out as it is. */
    public static Object call(Method method, Object object, Object... arguments) throws Throwable {
        try {
            return method.invoke(object, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** Calls a method that is not expected to throw. */
    public static Object must(Method method, Object object, Object... arguments) {
        try {
            return method.invoke(object, arguments);
        } catch (InvocationTargetException e) {
            throw unchecked(e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("cannot call " + method, e);
        }
    }

    public static Object make(Class<?> type, Class<?>[] parameters, Object... arguments) {
        Constructor<?> constructor = present(MemberSearch.constructor(type, parameters), "constructor", type);
        try {
            return constructor.newInstance(arguments);
        } catch (InvocationTargetException e) {
            throw unchecked(e.getCause());
        } catch (InstantiationException | IllegalAccessException e) {
            throw new IllegalStateException("cannot make a " + type, e);
        }
    }

    private static RuntimeException unchecked(Throwable cause) {
        if (cause instanceof Error) {
            throw (Error) cause;
        }
        return cause instanceof RuntimeException ? (RuntimeException) cause : new IllegalStateException(cause);
    }
}
