package rocketdiff.server;

import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;

/**
 * Starts a server for which "every address of this machine" means the loopback address.
 *
 * <p>No release lets the replication port be bound to one address, and 4.9.x lets none. All of them name the wildcard
 * through InetAddress, so that is where it is replaced. Arguments: the server's main class, then its own arguments.
 * With -Drocketdiff.halt=true the JVM ends once the server has started.
 */
public final class Loopback {
    private Loopback() {
    }

    public static void main(String[] arguments) throws Throwable {
        replaceWildcard();
        Class<?> server = Class.forName(arguments[0]);
        String[] rest = Arrays.copyOfRange(arguments, 1, arguments.length);
        server.getMethod("main", String[].class).invoke(null, (Object) rest);
        if (Boolean.getBoolean("rocketdiff.halt")) {
            Runtime.getRuntime().halt(0);
        }
    }

    /** Needs --add-opens java.base/java.net; on a Java where the fields are not as in 17 to 25 the server does not start. */
    private static void replaceWildcard() throws ReflectiveOperationException {
        Field chosen = InetAddress.class.getDeclaredField("impl");
        chosen.setAccessible(true);
        Object addresses = chosen.get(null);
        Field wildcard = addresses.getClass().getDeclaredField("anyLocalAddress");
        wildcard.setAccessible(true);
        wildcard.set(addresses, InetAddress.getLoopbackAddress());
        if (new InetSocketAddress(0).getAddress().isAnyLocalAddress()) {
            throw new IllegalStateException("the wildcard address could not be replaced");
        }
    }
}
