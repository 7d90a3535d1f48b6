package rocketdiff.simulation.script;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import rocketdiff.simulation.servers.Route;

/** A script, read; nothing in it changes when it is run, so it can be run again. */
public final class Script {
    final Route route;
    final Map<String, Object> settings;
    final List<Long> startIndex = new ArrayList<>();
    final long seed;
    final long expiredWaitExtraMs;
    final boolean lookUpBefore;
    final List<Step> steps = new ArrayList<>();
    private final boolean polls;

    @SuppressWarnings("unchecked")
    public Script(Map<String, Object> written) {
        Fields fields = new Fields("script", written);
        route = new Route((Map<?, ?>) written.get("route"));
        settings = fields.has("settings") ? (Map<String, Object>) written.get("settings") : Collections.emptyMap();
        seed = fields.number("seed", 0);
        expiredWaitExtraMs = fields.number("expired_wait_extra_ms", 0);
        lookUpBefore = !"at-first-send".equals(written.get("lookup"));
        Object start = written.get("start_index");
        if (start instanceof List) {
            startIndex.addAll((List<Long>) start);
        } else if (start != null) {
            startIndex.add((Long) start);
        }
        for (Object step : (List<?>) written.get("steps")) {
            steps.add(StepReader.step(step));
        }
        polls = polls((List<?>) written.get("steps"));
    }

    /** Whether it polls routes, in a step or in an entry of a timeline. */
    public boolean polls() {
        return polls;
    }

    private static List<Object> actions(List<?> entries) {
        List<Object> actions = new ArrayList<>();
        for (Object entry : entries) {
            actions.add(((Map<?, ?>) entry).get("action"));
        }
        return actions;
    }

    private static boolean polls(List<?> steps) {
        for (Object step : steps) {
            Map<?, ?> members = (Map<?, ?>) step;
            Object entries = members.get("entries");
            if ("poll_routes".equals(members.get("do")) || entries != null && polls(actions((List<?>) entries))) {
                return true;
            }
        }
        return false;
    }
}
