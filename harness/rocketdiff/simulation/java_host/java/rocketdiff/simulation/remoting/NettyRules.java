package rocketdiff.simulation.remoting;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;

/** How calls of RocketMQ's classes to Netty are rewritten; Netty's types are only ever named here. */
public final class NettyRules {
    private static final String CALLS = "rocketdiff/simulation/remoting/NettyCalls";
    private static final String BOOTSTRAP = "io/netty/bootstrap/Bootstrap";
    private static final String ABSTRACT_BOOTSTRAP = "io/netty/bootstrap/AbstractBootstrap";
    private static final String WHEEL = "io/netty/util/HashedWheelTimer";
    private static final String OBJECT = "Ljava/lang/Object;";

    /** Owner, method, number of arguments; class, method and descriptor of the stand, which gets the receiver first. */
    public static final String[][] ROWS = {
        {BOOTSTRAP, "connect", "1", CALLS, "connect", "(" + OBJECT + "Ljava/net/SocketAddress;)" + OBJECT},
        {BOOTSTRAP, "connect", "2", CALLS, "connect", "(" + OBJECT + "Ljava/lang/String;I)" + OBJECT},
        {BOOTSTRAP, "group", "1", CALLS, "group", "(" + OBJECT + OBJECT + ")" + OBJECT},
        {ABSTRACT_BOOTSTRAP, "group", "1", CALLS, "group", "(" + OBJECT + OBJECT + ")" + OBJECT},
        {WHEEL, "newTimeout", "3", CALLS, "newTimeout",
            "(" + OBJECT + OBJECT + "JLjava/util/concurrent/TimeUnit;)" + OBJECT},
        {WHEEL, "stop", "0", CALLS, "stop", "(" + OBJECT + ")Ljava/util/Set;"},
    };

    /** Types of which `new` gives null; the arguments are still evaluated. */
    public static final Set<String> NULLED = Collections.unmodifiableSet(new HashSet<>(Arrays.asList(
        "io/netty/channel/nio/NioEventLoopGroup", "io/netty/channel/epoll/EpollEventLoopGroup",
        "io/netty/util/concurrent/DefaultEventExecutorGroup")));

    /** Threads that would do nothing but wake up: of requests with replies, of automatic batches. */
    private static final Pattern IDLE = Pattern.compile("RequestHouseKeepingService.*|.*_GuardFor(Sync|Async)Send");

    /** Threads that do the same without a consumer. */
    private static final Pattern CONSUMING = Pattern.compile("PullMessageService|RebalanceService");

    /** A pool whose timed tasks look through the pending requests and hand on what they find. */
    private static final String BRIEF = "ClientHouseKeepingService";

    /** A thread that polls its queue for 3 s, over and over; one poll without an end is the same to everyone else. */
    private static final String PATIENT = "NettyEventExecutor";

    /** A pool whose tasks are the pulls of a lite pull consumer. */
    private static final String WIDE = "PullMsgThread-";

    private NettyRules() {
    }

    /** Whether a thread of this name, or a pool's, may be started but never runs. */
    public static boolean neverRuns(String thread, boolean consumes) {
        return IDLE.matcher(thread).matches() || !consumes && CONSUMING.matcher(thread).matches();
    }

    /** Whether the timed tasks of a pool whose thread has this name never wait. */
    public static boolean isBrief(String thread) {
        return thread.equals(BRIEF);
    }

    /** Whether a thread of this name waits at a queue for as long as it takes, whatever it says. */
    public static boolean isPatient(String thread) {
        return thread.equals(PATIENT);
    }

    /** Whether each task of a pool whose thread has this name has a thread of its own. */
    public static boolean isWide(String thread) {
        return thread.startsWith(WIDE);
    }
}
