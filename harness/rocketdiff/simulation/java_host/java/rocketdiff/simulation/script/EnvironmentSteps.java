package rocketdiff.simulation.script;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import rocketdiff.simulation.servers.Answer;
import rocketdiff.simulation.servers.Route;
import rocketdiff.simulation.servers.ScriptedServer;

/** Steps of every role: time, servers, routes, the client's background work, and the dump of its state. */
final class EnvironmentSteps {
    private static final String[] PARTS = {
        "index", "worst_index", "queues", "faults", "clock", "connections", "owned", "process"
    };

    private EnvironmentSteps() {
    }

    static Step step(String kind, Fields fields) {
        switch (kind) {
            case "advance":
                long ms = fields.number("ms");
                return (run, place) -> {
                    run.scheduler.sleepUntil(run.scheduler.nowMs() + ms);
                    run.scheduler.settle();
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
                    run.lines.changed(place, kind, run.client, run.scheduler.main());
                });
            case "dump":
                return dump(fields.list("parts"));
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

    /** The parts in the order of the contract, whatever order they were asked in. */
    private static Step dump(List<?> asked) {
        List<String> parts = new ArrayList<>();
        for (String part : PARTS) {
            if (asked.contains(part)) {
                parts.add(part);
            }
        }
        return (run, place) -> {
            StringBuilder out = run.lines.begin(place, "dump").append('{');
            String separator = "";
            for (String part : parts) {
                append(out.append(separator).append('"').append(part).append("\": "), part, run);
                separator = ", ";
            }
            out.append("}}\n");
        };
    }

    private static void append(StringBuilder out, String part, Run run) {
        switch (part) {
            case "clock":
                out.append("{\"now_ms\": ").append(run.scheduler.nowMs()).append('}');
                break;
            case "connections":
                out.append(run.client.connections());
                break;
            default:
                run.client.appendPart(out, part, run.scheduler.main());
        }
    }
}
