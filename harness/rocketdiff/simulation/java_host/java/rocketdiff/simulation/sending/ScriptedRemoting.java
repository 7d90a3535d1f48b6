package rocketdiff.simulation.sending;

import java.lang.reflect.Method;
import rocketdiff.simulation.client.Depth;
import rocketdiff.simulation.client.Protocol;
import rocketdiff.simulation.client.RemotingStandIn;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Fault;
import rocketdiff.simulation.servers.Network;
import rocketdiff.simulation.servers.Reply;
import rocketdiff.simulation.servers.ScriptedServer;

/**
 * Depth `send-loop`.
 *
 * <p>A request is written at once; without time left nobody waits for its answer, not even for one that takes 0 ms.
 */
final class ScriptedRemoting extends RemotingStandIn {
    private final Attempts attempts;

    ScriptedRemoting(Protocol protocol, Network network, Scheduler scheduler, Attempts attempts) {
        super(protocol, network, scheduler);
        this.attempts = attempts;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "invokeSync":
                return attempted((String) arguments[0], arguments[1], (Long) arguments[2], true);
            case "invokeOneway":
                return attempted((String) arguments[0], arguments[1], (Long) arguments[2], false);
            case "invokeAsync":
                throw new Failure(Failure.SCRIPT, "an async request at send-loop depth");
            default:
                return answerOf(proxy, method, arguments);
        }
    }

    private Object attempted(String address, Object request, long timeoutMs, boolean waits) throws Throwable {
        Attempt attempt = attempts.begin(address, request, timeoutMs);
        try {
            Object response = waits ? answered(address, request, timeoutMs) : written(address, request);
            if (attempt != null && waits) {
                attempt.answered(protocol.code(response), scheduler.nowMs());
            } else if (attempt != null) {
                attempt.ended("written", scheduler.nowMs());
            }
            return response;
        } catch (RuntimeException bug) {
            throw fail(bug);
        } catch (Exception e) {
            if (attempt != null) {
                attempt.failed(e, scheduler.nowMs());
            }
            throw e;
        }
    }

    /** What a one-way request's writer sees: nothing, unless the connect is refused. */
    private Object written(String address, Object request) throws Throwable {
        connected(address, request).arrive(protocol.isSend(request), new Heard());
        return null;
    }

    private Object answered(String address, Object request, long timeoutMs) throws Throwable {
        ScriptedServer server = connected(address, request);
        Heard heard = new Heard();
        server.arrive(protocol.isSend(request), heard);
        long extraMs = timeoutMs > 0 ? scheduler.expiredExtraMs : 0;
        if (!scheduler.await(() -> heard.isOver, scheduler.nowMs() + timeoutMs + extraMs)) {
            throw protocol.timedOut(String.valueOf(address), timeoutMs);
        }
        if (heard.isBroken) {
            throw protocol.broken(String.valueOf(address));
        }
        return response(server, request, heard.code);
    }

    /** The server at an address; throws if it refuses connects, which uses up a refusal that stands in a list. */
    private ScriptedServer connected(String address, Object request) throws Throwable {
        ScriptedServer server = network.at(address);
        if (server.refuses()) {
            if (!server.isDead() && protocol.isSend(request)) {
                server.take();
            }
            throw protocol.refused(String.valueOf(address));
        }
        return server;
    }

    private Object response(ScriptedServer server, Object request, int code) {
        if (protocol.isSend(request)) {
            return protocol.sendResponse(request, code);
        }
        if (server != network.nameServer || code != 0 || protocol.code(request) != Protocol.GET_ROUTE) {
            return protocol.response(request, code);
        }
        boolean known = network.route().isKnown && protocol.topic(request).equals(SelectionClient.TOPIC);
        return protocol.routeResponse(request, known ? network.routeBody() : null);
    }

    /** What becomes of one request. */
    private static final class Heard implements Reply {
        boolean isOver;
        boolean isBroken;
        int code;

        @Override
        public void answered(int answer) {
            code = answer;
            isOver = true;
        }

        @Override
        public void broken(Fault fault) {
            isBroken = true;
            isOver = true;
        }
    }
}
