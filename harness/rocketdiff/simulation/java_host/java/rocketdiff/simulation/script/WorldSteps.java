package rocketdiff.simulation.script;

import java.util.List;
import java.util.Map;
import rocketdiff.simulation.wire.Answer;
import rocketdiff.simulation.wire.Route;
import rocketdiff.simulation.wire.ScriptedServer;

/** Steps about time, servers and routes, and the two that make the client do its background work. */
final class WorldSteps {
    private WorldSteps() {
    }

    static Step step(String kind, Fields fields) {
        switch (kind) {
            case "advance":
                long ms = fields.number("ms");
                return (run, place) -> {
                    run.world.sleepUntil(run.world.nowMs() + ms);
                    run.world.settle();
                };
            case "broker":
                return broker(fields);
            case "name_server":
                List<Answer> answer = Answer.list(fields.any("answer"));
                return (run, place) -> run.network.nameServer.answer(answer);
            case "route":
                Route route = new Route((Map<?, ?>) fields.any("route"));
                return (run, place) -> run.network.setRoute(route);
            case "poll_routes":
                return Step.waiting((run, place) -> {
                    run.client.pollRoutes();
                    run.lines.changed(place, kind, run.client.memory(), run.world.main());
                });
            case "heartbeat":
                return Step.waiting((run, place) -> run.client.heartbeat());
            default:
                return fault(kind, fields);
        }
    }

    private static Step broker(Fields fields) {
        String name = fields.text("name");
        List<Answer> answers = Answer.list(fields.any("answers"));
        return (run, place) -> run.network.broker(name).answer(answers);
    }

    private static Step fault(String kind, Fields fields) {
        switch (kind) {
            case "pause":
            case "resume":
            case "kill":
            case "restart":
            case "close":
                String broker = fields.text("broker");
                return (run, place) -> befall(kind, run.network.broker(broker));
            default:
                throw StepReader.unknown(kind);
        }
    }

    private static void befall(String kind, ScriptedServer server) {
        switch (kind) {
            case "pause":
                server.pause();
                break;
            case "resume":
                server.resume();
                break;
            case "kill":
                server.kill();
                break;
            case "restart":
                server.restart();
                break;
            default:
                server.closeConnections();
        }
    }
}
