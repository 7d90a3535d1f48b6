package rocketdiff.simulation.sending;

import java.util.HashMap;
import java.util.Map;
import rocketdiff.simulation.client.Protocol;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Network;

/** Which send of the script a request belongs to, and the attempts that its requests are. */
public final class Attempts {
    /** Marks of equal length, because the sizes of messages are part of answers. */
    private static final int FIRST_MARK = 10_000_000;

    private final Protocol protocol;
    private final Network network;
    private final Scheduler scheduler;
    private final Map<String, Send> sends = new HashMap<>();

    public Attempts(Protocol protocol, Network network, Scheduler scheduler) {
        this.protocol = protocol;
        this.network = network;
        this.scheduler = scheduler;
    }

    /** A mark for a send's message, by which its requests are known again on any thread. */
    String mark(Send send) {
        String mark = String.valueOf(FIRST_MARK + sends.size());
        sends.put(mark, send);
        return mark;
    }

    /** Notes that RemotingClient was called with a request to send; null for any other request, and for one of the client's own. */
    public Attempt begin(String address, Object request, long timeoutMs) {
        if (!protocol.isSend(request)) {
            return null;
        }
        Send send = sends.get(protocol.mark(request));
        if (send == null) {
            return null;
        }
        String broker = network.at(address).name;
        String text = send.showsRequests ? RequestText.of(request, protocol) : null;
        Attempt attempt =
            new Attempt(broker, protocol.queueId(request), network.isVip(address), timeoutMs, scheduler.nowMs(), text);
        send.attempts.add(attempt);
        return attempt;
    }
}
