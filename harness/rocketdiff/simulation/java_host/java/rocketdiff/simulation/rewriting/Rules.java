package rocketdiff.simulation.rewriting;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.Type;
import rocketdiff.simulation.remoting.NettyRules;
import rocketdiff.simulation.standins.*;

/** Which static method replaces which call in rewritten code, read from the classes that carry StandsFor. */
final class Rules {
    private static final Class<?>[] STANDS = {
        AddressCalls.class, CalendarCalls.class, CompletableFutureCalls.class, ExecutorsCalls.class, FutureCalls.class,
        InterfaceCalls.class, LatchCalls.class, LockCalls.class, MachineCalls.class, ManagementCalls.class,
        MathCalls.class, MonitorCalls.class, QueueCalls.class, RuntimeCalls.class, SemaphoreCalls.class,
        ShuffleCalls.class, SynchronizerCalls.class, SystemCalls.class, ThreadCalls.class, TimeUnitCalls.class,
        UuidCalls.class,
    };

    /** A static method to call instead. */
    static final class Stand {
        final String owner;
        final String name;
        final String descriptor;

        Stand(String owner, String name, String descriptor) {
            this.owner = owner;
            this.name = name;
            this.descriptor = descriptor;
        }
    }

    private final Map<String, Stand> stands = new HashMap<>();
    /** Those that are found by the number of arguments, since our code cannot name their types. */
    private final Map<String, Stand> foreign = new HashMap<>();
    private final Set<String> names = new HashSet<>();

    Rules() {
        for (Class<?> stand : STANDS) {
            Class<?> owner = stand.getAnnotation(StandsFor.class).value();
            for (Method method : stand.getDeclaredMethods()) {
                if (Modifier.isPublic(method.getModifiers())) {
                    add(stand, owner, method);
                }
            }
        }
        for (String[] row : NettyRules.ROWS) {
            names.add(row[1]);
            foreign.put(row[0] + '.' + row[1] + '/' + row[2], new Stand(row[3], row[4], row[5]));
        }
    }

    /** Whether there is a rule for some method of this name. */
    boolean mentions(String name) {
        return names.contains(name);
    }

    /** The stand for a call of exactly this class's method; null if there is none. */
    Stand of(boolean isStatic, String owner, String name, String descriptor) {
        Stand stand = stands.get(key(isStatic, owner, name, arguments(descriptor)));
        if (stand == null && !isStatic && !owner.startsWith("java/")) {
            stand = foreign.get(owner + '.' + name + '/' + Type.getArgumentTypes(descriptor).length);
        }
        return stand;
    }

    private void add(Class<?> stand, Class<?> owner, Method method) {
        Type[] parameters = Type.getArgumentTypes(method);
        boolean isInstance = parameters.length > 0 && parameters[0].equals(Type.getType(owner));
        StringBuilder arguments = new StringBuilder();
        for (int i = isInstance ? 1 : 0; i < parameters.length; i++) {
            arguments.append(parameters[i].getDescriptor());
        }
        String key = key(!isInstance, Type.getInternalName(owner), method.getName(), arguments.toString());
        names.add(method.getName());
        stands.put(key, new Stand(Type.getInternalName(stand), method.getName(), Type.getMethodDescriptor(method)));
    }

    private static String key(boolean isStatic, String owner, String name, String arguments) {
        return (isStatic ? "static " : "") + owner + '.' + name + '(' + arguments;
    }

    private static String arguments(String descriptor) {
        return descriptor.substring(1, descriptor.indexOf(')'));
    }
}
