package rocketdiff.simulation.remoting;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Fault;
import rocketdiff.simulation.servers.Reply;
import rocketdiff.simulation.servers.ScriptedServer;

/** A scripted server at the other end of connections. */
final class Peer {
    final ScriptedServer server;
    private final Replies replies;
    /** Those that stand, oldest first. */
    private final List<Connection> connections = new ArrayList<>(2);
    /** Those whose connects a silent server has left without an answer. */
    private List<Connection> hanging = new ArrayList<>(0);

    Peer(ScriptedServer server, Replies replies) {
        this.server = server;
        this.replies = replies;
        server.onBreak(this::breakAll);
        server.onNews(this::meetHanging);
    }

    int connected() {
        return connections.size();
    }

    /**
     * A connect arrives. A refusal that stands in a list of answers is used up by a connect that is made in order to send, since
     * the request itself will never get so far.
     */
    void meet(Connection connection, boolean inOrderToSend) {
        Fault fault = server.current().fault;
        if (!connection.isConnecting()) {
            // The client has given it up meanwhile.
            return;
        }
        if (server.isDead()) {
            connection.fail("Connection refused");
        } else if (fault == Fault.REFUSED) {
            if (inOrderToSend) {
                server.take();
            }
            connection.fail("Connection refused");
        } else if (fault == Fault.SILENT) {
            hang(connection);
        } else {
            connections.add(connection);
            connection.open();
        }
    }

    private void hang(Connection connection) {
        hanging.add(connection);
        Scheduler.current().after(connection.timeoutMs(), () -> {
            if (hanging.remove(connection)) {
                connection.fail("connection timed out");
            }
        });
    }

    /** The server is silent no more: what hangs is decided, as an event each. */
    private void meetHanging() {
        List<Connection> decided = hanging;
        hanging = new ArrayList<>(0);
        for (Connection connection : decided) {
            Scheduler.current().after(0, () -> meet(connection, false));
        }
    }

    /** A request arrives; its answer may be on its way already when this returns. */
    void receive(Connection connection, Object request) {
        Object id = replies.id(request);
        server.arrive(replies.isSend(request), new Reply() {
            @Override
            public void answered(int code) {
                boolean isServed = replies.group != null && server.name != null
                    && replies.group.serve(server, request, response -> connection.receive(() -> replies.numbered(response.get(), id)));
                if (isServed) {
                    return;
                }
                connection.receive(() -> replies.reply(server, request, id, code));
            }

            @Override
            public void broken(Fault fault) {
                connection.breakOff(fault);
            }
        });
    }

    void request(Supplier<Object> request) {
        new ArrayList<>(connections).forEach(connection -> connection.receive(request));
    }

    void forget(Connection connection) {
        connections.remove(connection);
    }

    /** The server ends all its connections, in the order in which they were made; that arrives as an event. */
    private void breakAll(Fault fault) {
        for (Connection connection : new ArrayList<>(connections)) {
            Scheduler.current().after(0, () -> connection.breakOff(fault));
        }
    }
}
