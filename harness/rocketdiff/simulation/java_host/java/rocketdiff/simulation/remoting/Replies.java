package rocketdiff.simulation.remoting;

import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Protocol;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.consuming.GroupBrokers;
import rocketdiff.simulation.sending.SelectionClient;
import rocketdiff.simulation.servers.Network;
import rocketdiff.simulation.servers.ScriptedServer;

/** What scripted servers write back: the responses of a release. Request ids begin at 0 with every script. */
final class Replies {
    private static final int GET_MAX_OFFSET = 30;

    private final Protocol protocol;
    private final Network network;
    private final Method addExtField;
    private final Method opaque;
    private final Method setOpaque;

    /** What brokers know of a group of consumers; null: there is none. */
    final GroupBrokers group;

    Replies(Release release, Network network, GroupBrokers group) {
        this.protocol = release.protocol();
        this.group = group;
        this.network = network;
        addExtField = Members.method(protocol.command, "addExtField", 2);
        opaque = Members.method(protocol.command, "getOpaque", 0);
        setOpaque = Members.method(protocol.command, "setOpaque", 1);
        ((AtomicInteger) Members.get(Members.field(protocol.command, "requestId"), (Object) null)).set(0);
    }

    boolean isSend(Object request) {
        return protocol.isSend(request);
    }

    /** The id that a request was written with; the client's retry gives the same command another one. */
    Object id(Object request) {
        return Members.must(opaque, request);
    }

    /**
     * A response, made when it arrives: as in the client's decoder it takes a request id, which is seen up to 4.6.1, where a
     * retry's id is given out once more, to whatever command is made next.
     */
    Object reply(ScriptedServer server, Object request, Object id, int code) {
        return numbered(response(server, request, code), id);
    }

    Object numbered(Object response, Object id) {
        Members.must(setOpaque, response, id);
        return response;
    }

    private Object response(ScriptedServer server, Object request, int code) {
        if (protocol.isSend(request)) {
            return protocol.sendResponse(request, code);
        }
        int asked = protocol.code(request);
        if (server == network.nameServer && code == 0 && asked == Protocol.GET_ROUTE) {
            if (group != null && group.knowsRetryTopic && protocol.topic(request).equals(GroupBrokers.RETRY_TOPIC)) {
                return protocol.routeResponse(request, network.route().isKnown ? network.retryBody() : null);
            }
            boolean known = network.route().isKnown && protocol.topic(request).equals(SelectionClient.TOPIC);
            return protocol.routeResponse(request, known ? network.routeBody() : null);
        }
        Object response = protocol.response(request, code);
        if (asked == GET_MAX_OFFSET) {
            Members.must(addExtField, response, "offset", "0");
        }
        return response;
    }
}
