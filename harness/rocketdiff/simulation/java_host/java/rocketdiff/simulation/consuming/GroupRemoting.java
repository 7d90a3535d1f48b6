package rocketdiff.simulation.consuming;

import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import rocketdiff.simulation.client.Protocol;
import rocketdiff.simulation.client.RemotingStandIn;
import rocketdiff.simulation.json.JsonText;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Network;
import rocketdiff.simulation.servers.ScriptedServer;

/** Depth `rebalance`: every request but a pull is answered at once. */
final class GroupRemoting extends RemotingStandIn {
    private static final int PULL = 11;
    private static final int QUERY_OFFSET = 14;
    private static final int UPDATE_OFFSET = 15;
    private static final int MAX_OFFSET = 30;
    private static final int HEARTBEAT = 34;
    private static final int CONSUMER_IDS = 38;
    private static final int SYSTEM_ERROR = 1;
    private static final int QUERY_NOT_FOUND = 22;
    /** The bit of sysFlag that says that a commit offset is meant. */
    private static final int COMMITS = 1;

    private final Group group;

    GroupRemoting(Protocol protocol, Network network, Scheduler scheduler, Group group) {
        super(protocol, network, scheduler);
        this.group = group;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) {
        switch (method.getName()) {
            case "invokeSync":
            case "invokeOneway":
            case "invokeAsync":
                return answer((String) arguments[0], arguments[1]);
            default:
                return answerOf(proxy, method, arguments);
        }
    }

    private Object answer(String address, Object request) {
        try {
            return answered(network.at(address), request);
        } catch (RuntimeException bug) {
            throw fail(bug);
        }
    }

    private Object answered(ScriptedServer server, Object request) {
        int code = protocol.code(request);
        switch (code) {
            case Protocol.GET_ROUTE:
                boolean known = network.route().isKnown && protocol.topic(request).equals(AllocationClient.TOPIC);
                return protocol.routeResponse(request, known ? network.routeBody() : null);
            case HEARTBEAT:
                note("heartbeat " + server.name);
                return protocol.response(request, 0);
            case CONSUMER_IDS:
                note("ids");
                return ids(request);
            case QUERY_OFFSET:
                note("query " + queue(server, request));
                Long committed = group.offsets.get(queue(server, request));
                return committed == null ? protocol.response(request, QUERY_NOT_FOUND) : offset(request, committed);
            case MAX_OFFSET:
                note("max " + queue(server, request));
                return offset(request, 0);
            case UPDATE_OFFSET:
                note("commit " + queue(server, request) + " " + field(request, "commitOffset"));
                group.offsets.put(queue(server, request), (Long) field(request, "commitOffset"));
                return protocol.response(request, 0);
            case PULL:
                boolean commits = ((Integer) field(request, "sysFlag") & COMMITS) != 0;
                note("pull " + queue(server, request) + " " + field(request, "queueOffset")
                    + (commits ? " commit " + field(request, "commitOffset") : ""));
                return null;
            default:
                throw new Failure(Failure.HOST, "a request with code " + code + " at depth rebalance");
        }
    }

    private Object ids(Object request) {
        if (group.ids == null) {
            return protocol.response(request, SYSTEM_ERROR);
        }
        StringBuilder body = new StringBuilder("{\"consumerIdList\":[");
        for (String id : group.ids) {
            body.append(body.charAt(body.length() - 1) == '[' ? "" : ",").append(JsonText.of(id));
        }
        return protocol.response(request, 0, body.append("]}").toString().getBytes(StandardCharsets.UTF_8));
    }

    private Object offset(Object request, long value) {
        return protocol.response(request, 0, "offset", String.valueOf(value));
    }

    private String queue(ScriptedServer server, Object request) {
        return server.name + "/" + field(request, "queueId");
    }

    private Object field(Object request, String name) {
        return protocol.field(request, name);
    }

    private void note(String request) {
        group.note(scheduler.nowMs(), request);
    }
}
