package rocketdiff.simulation.remoting;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.function.Supplier;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Fault;

/** One TCP connection of the client: a channel's life, driving the client's own handlers where Netty would. */
final class Connection {
    final Object channel;
    final Promise connected;
    private final Wire wire;
    private final Peer peer;
    private final InetSocketAddress remote;
    private final Pipeline pipeline;
    private final Object attributes;
    private final int number;
    private final long timeoutMs;
    private boolean active;
    private long usedMs;

    Connection(Wire wire, Peer peer, InetSocketAddress remote, int number, long timeoutMs)
        throws ReflectiveOperationException {
        this.wire = wire;
        this.peer = peer;
        this.remote = remote;
        this.number = number;
        this.timeoutMs = timeoutMs;
        this.attributes = types().attributeMap();
        this.channel = types().proxy(types().channel, new ChannelStandIn(this));
        this.pipeline = new Pipeline(this);
        this.connected = new Promise(this, true);
    }

    NettyTypes types() {
        return wire.types;
    }

    Wire wire() {
        return wire;
    }

    Pipeline pipeline() {
        return pipeline;
    }

    InetSocketAddress remote() {
        return remote;
    }

    Object attributes() {
        return attributes;
    }

    int number() {
        return number;
    }

    /** How long a connect may take. */
    long timeoutMs() {
        return timeoutMs;
    }

    /** Whether the connect is still open. */
    boolean isConnecting() {
        return !connected.isDone();
    }

    boolean isActive() {
        return active;
    }

    /** The peer's kernel has accepted the connection: the future first, the handler's channelActive in an event of its own. */
    void open() {
        active = true;
        use();
        connected.finish(null);
        Scheduler.current().after(0, () -> {
            if (active) {
                pipeline.active();
            }
        });
        watchIdleness();
    }

    /** The connect has failed. */
    void fail(String why) {
        pipeline.remove();
        connected.finish(new ConnectException(why + ": " + remote));
    }

    /** What the client writes reaches the peer at this instant, if the connection still stands. */
    Object write(Object request) {
        Promise written = new Promise(this, false);
        if (active) {
            use();
            written.finish(null);
            peer.receive(this, request);
        } else {
            written.finish(new ClosedChannelException());
        }
        return written.proxy;
    }

    /** The client closes: through its handler as long as there is one. */
    Object close() {
        Promise closed = new Promise(this, false);
        if (pipeline.isGone()) {
            closed.finish(null);
        } else {
            pipeline.close(closed);
        }
        return closed.proxy;
    }

    /** The end of a close that has come down the pipeline. */
    void shut(Promise closed) {
        boolean wasActive = active;
        active = false;
        closed.finish(null);
        if (wasActive) {
            peer.forget(this);
            Scheduler.current().after(0, this::takeDown);
        } else {
            connected.finish(new ClosedChannelException());
        }
    }

    /** The peer has answered; on a connection that is no more the answer is lost. */
    void receive(Supplier<Object> response) {
        if (active) {
            use();
            pipeline.read(response.get());
        }
    }

    /** The peer has ended the connection, by a reset (which the handler is told first) or in good order. */
    void breakOff(Fault how) {
        if (active && how == Fault.RESET) {
            pipeline.caught(new IOException("Connection reset by peer"));
        }
        if (active) {
            active = false;
            peer.forget(this);
            takeDown();
        }
    }

    private void takeDown() {
        if (!pipeline.isGone()) {
            pipeline.inactive();
            pipeline.remove();
        }
    }

    private void use() {
        usedMs = Scheduler.current().nowMs();
    }

    private void watchIdleness() {
        long idleMs = pipeline.idleMs();
        if (idleMs > 0) {
            Scheduler.current().at(usedMs + idleMs, () -> seeIdleness(idleMs));
        }
    }

    private void seeIdleness(long idleMs) {
        if (!active) {
            return;
        }
        if (Scheduler.current().nowMs() - usedMs >= idleMs) {
            use();
            pipeline.idle();
        }
        watchIdleness();
    }

    @Override
    public String toString() {
        return "connection " + number + " to " + remote;
    }
}
