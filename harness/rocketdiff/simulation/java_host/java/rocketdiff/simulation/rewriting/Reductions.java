package rocketdiff.simulation.rewriting;

import java.util.Collections;
import java.util.Set;

/** Methods of RocketMQ that do less here than in life. */
final class Reductions {
    static final String NETTY_CLIENT = "org/apache/rocketmq/remoting/netty/NettyRemotingClient";

    /** Emptied: timers of consumer statistics, fifteen a client, that no producer ever sees. */
    private static final Set<String> EMPTY =
        Collections.singleton("org/apache/rocketmq/common/stats/StatsItemSet.init()V");

    private Reductions() {
    }

    static boolean isEmptied(String className, String method, String descriptor) {
        return EMPTY.contains(className + "." + method + descriptor);
    }

    /** Whether a constructor may end after its superclass's, where a script needs no more of the object. */
    static boolean mayEndEarly(String className, String method) {
        return className.equals(NETTY_CLIENT) && method.equals("<init>");
    }
}
