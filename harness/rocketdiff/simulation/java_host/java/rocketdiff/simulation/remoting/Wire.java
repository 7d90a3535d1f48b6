package rocketdiff.simulation.remoting;

import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.sending.Attempt;
import rocketdiff.simulation.servers.Network;
import rocketdiff.simulation.servers.ScriptedServer;

/** The network of one script as the client's Netty calls reach it. */
final class Wire {
    private static Wire current;

    final NettyTypes types;
    final NettyThread netty = new NettyThread();
    private final Network network;
    private final Replies replies;
    private final Map<ScriptedServer, Peer> peers = new IdentityHashMap<>();
    private final Map<Object, Wheel> wheels = new IdentityHashMap<>();
    /** What connects, of this client and of those that were shut down before it. */
    private final Set<Object> bootstraps = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<Object> shut = Collections.newSetFromMap(new IdentityHashMap<>());
    private int numbered;
    private boolean isShut;

    Wire(NettyTypes types, Network network, Replies replies) {
        this.types = types;
        this.network = network;
        this.replies = replies;
    }

    /** The network that rewritten code connects to. */
    static Wire current() {
        if (current == null) {
            throw new Failure(Failure.HOST, "a call of Netty outside the remoting depth");
        }
        return current;
    }

    static void use(Wire wire) {
        current = wire;
    }

    /** A connect: a channel and an unfinished future at once, the result in an event. */
    Object connect(Object bootstrap, InetSocketAddress target) throws ReflectiveOperationException {
        String address = target.getAddress().getHostAddress() + ":" + target.getPort();
        Peer peer = peers.computeIfAbsent(network.at(address), server -> new Peer(server, replies));
        Connection connection = new Connection(this, peer, target, numbered++, types.connectTimeoutMs(bootstrap));
        types.initialise(bootstrap, connection.channel);
        bootstraps.add(bootstrap);
        if (isShut || shut.contains(bootstrap)) {
            return connection.connected.proxy;
        }
        Scheduler scheduler = Scheduler.current();
        boolean inOrderToSend = scheduler.running().errand instanceof Attempt;
        scheduler.after(0, () -> peer.meet(connection, inOrderToSend));
        return connection.connected.proxy;
    }

    /** No connect leads anywhere from now on. */
    void shut() {
        isShut = true;
    }

    /** Another client begins, at the same servers; nothing of the one before connects. */
    void reopen() {
        shut.addAll(bootstraps);
        isShut = false;
    }

    /** A server asks the client something on every connection. */
    void request(ScriptedServer server, Supplier<Object> request) {
        Peer peer = peers.get(server);
        if (peer != null) {
            peer.request(request);
        }
    }

    /** What ticks instead of a HashedWheelTimer. */
    Wheel wheel(Object timer) {
        return wheels.computeIfAbsent(timer, any -> new Wheel(types));
    }

    /** How many connections stand, by broker; none is not told of. */
    Map<String, Integer> connected() {
        Map<String, Integer> connected = new TreeMap<>();
        peers.forEach((server, peer) -> {
            if (server.name != null && peer.connected() > 0) {
                connected.put(server.name, peer.connected());
            }
        });
        return connected;
    }
}
