package rocketdiff.simulation.client;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import rocketdiff.simulation.rewriting.JarShelf;
import rocketdiff.simulation.rewriting.ReleaseLoader;

/** The classes of one release, found by name; nothing here knows a release's number. */
public final class Release {
    private static final String ROOT = "org.apache.rocketmq.";

    public final String name;
    public final ClassLoader loader;

    private final Map<Class<?>, Object> views = new HashMap<>();
    private Protocol protocol;

    public Release(String name, List<String> classPath, JarShelf shelf) throws IOException {
        this.name = name;
        this.loader = new ReleaseLoader(classPath, shelf);
    }

    /** The first class of these names that the release has; packages moved at 5.1.0. */
    public Class<?> type(String... names) {
        Class<?> found = typeOrNull(names);
        if (found == null) {
            throw new IllegalStateException(name + " has no class " + String.join(" or ", names));
        }
        return found;
    }

    public Class<?> typeOrNull(String... names) {
        for (String candidate : names) {
            try {
                return Class.forName(ROOT + candidate, true, loader);
            } catch (ClassNotFoundException elsewhere) {
                continue;
            }
        }
        return null;
    }

    /** Requests, responses and exceptions of remoting; looked up at first use. */
    public Protocol protocol() {
        if (protocol == null) {
            protocol = new Protocol(this);
        }
        return protocol;
    }

    /** What a role needs of these classes; looked up at first use. */
    public <T> T view(Class<T> kind, Function<Release, T> look) {
        Object known = views.get(kind);
        if (known == null) {
            known = look.apply(this);
            views.put(kind, known);
        }
        return kind.cast(known);
    }
}
