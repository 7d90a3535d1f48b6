package rocketdiff.simulation.client;

import java.util.ArrayList;
import java.util.List;

/** Arguments of a call being put together with their declared types. */
public final class Form {
    private final List<Class<?>> types = new ArrayList<>(5);
    private final List<Object> arguments = new ArrayList<>(5);

    public Form with(Class<?> type, Object argument) {
        types.add(type);
        arguments.add(argument);
        return this;
    }

    public Object call(Class<?> type, String name, Object object) throws Throwable {
        return Members.call(Members.method(type, name, types.toArray(new Class<?>[0])), object, arguments.toArray());
    }
}
