package rocketdiff.simulation;

import java.util.Map;
import rocketdiff.json.JsonReader;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.script.Script;

/** The script of the latest command, read: one script is often run by forty releases in a row. */
final class LastScript {
    private String text;
    private Script script;

    Script of(String json) {
        if (json == null) {
            throw new Failure(Failure.SCRIPT, "a run without a script");
        }
        if (!json.equals(text)) {
            script = read(json);
            text = json;
        }
        return script;
    }

    @SuppressWarnings("unchecked")
    private static Script read(String json) {
        try {
            return new Script((Map<String, Object>) JsonReader.read(json));
        } catch (IllegalArgumentException | ClassCastException e) {
            throw new Failure(Failure.SCRIPT, "cannot be read: " + e.getMessage(), e);
        }
    }
}
