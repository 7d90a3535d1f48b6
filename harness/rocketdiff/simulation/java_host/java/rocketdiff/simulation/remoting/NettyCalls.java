package rocketdiff.simulation.remoting;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * What rewritten code calls instead of Netty where Netty would have begun to do something. All else of Netty that the client
 * touches (bootstraps with their options, handlers, attribute keys) is Netty's own.
 */
public final class NettyCalls {
    private NettyCalls() {
    }

    /** Bootstrap.connect. */
    public static Object connect(Object bootstrap, SocketAddress target) throws ReflectiveOperationException {
        return Wire.current().connect(bootstrap, (InetSocketAddress) target);
    }

    /** Bootstrap.connect with a host that is an address. */
    public static Object connect(Object bootstrap, String host, int port) throws ReflectiveOperationException {
        return connect(bootstrap, new InetSocketAddress(host, port));
    }

    /** Bootstrap.group: there is no group. */
    public static Object group(Object bootstrap, Object group) {
        return bootstrap;
    }

    /** HashedWheelTimer.newTimeout; nobody uses its result. */
    public static Object newTimeout(Object timer, Object task, long delay, TimeUnit unit) {
        Wire.current().wheel(timer).schedule(task, unit.toMillis(delay));
        return null;
    }

    /** HashedWheelTimer.stop. */
    public static Set<?> stop(Object timer) {
        Wire.current().wheel(timer).stop();
        return Collections.emptySet();
    }
}
