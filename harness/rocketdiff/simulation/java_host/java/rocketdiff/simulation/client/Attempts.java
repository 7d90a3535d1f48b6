package rocketdiff.simulation.client;

import java.util.HashMap;
import java.util.Map;
import rocketdiff.simulation.wire.Network;
import rocketdiff.simulation.world.World;

/** Which send of the script a request belongs to, and the attempts that its requests are. */
public final class Attempts {
    private final Protocol protocol;
    private final Network network;
    private final World world;
    private final Map<String, Send> sends = new HashMap<>();

    public Attempts(Protocol protocol, Network network, World world) {
        this.protocol = protocol;
        this.network = network;
        this.world = world;
    }

    /** A mark for a send's message, by which its requests are known again on any thread. */
    String mark(Send send) {
        String mark = String.valueOf(sends.size());
        sends.put(mark, send);
        return mark;
    }

    /** Notes that RemotingClient was called with a request to send; null for any other request. */
    public Attempt begin(String address, Object request, long timeoutMs) {
        if (!protocol.isSend(request)) {
            return null;
        }
        String broker = network.at(address).name;
        Attempt attempt =
            new Attempt(broker, protocol.queueId(request), network.isVip(address), timeoutMs, world.nowMs());
        sends.get(protocol.mark(request)).attempts.add(attempt);
        return attempt;
    }
}
