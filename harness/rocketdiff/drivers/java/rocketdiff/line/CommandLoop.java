package rocketdiff.line;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import rocketdiff.json.JsonReader;

/** Reads the runner's commands, one a line, until stop or the end of the input (the runner is gone). */
public final class CommandLoop {
    private CommandLoop() {
    }

    /** What obeys. */
    public interface Session {
        void plan(Map<String, Object> line);

        void setup(Map<String, Object> line);

        void go(Map<String, Object> line);

        /** A command that not every role has. */
        default void other(String type, Map<String, Object> line) {
            throw new IllegalArgumentException("unknown command: " + line);
        }
    }

    /** True if it ended with a stop that gives the client time to end by itself. */
    public static boolean run(InputStream in, Session session) throws IOException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            @SuppressWarnings("unchecked")
            Map<String, Object> command = (Map<String, Object>) JsonReader.read(line);
            String type = String.valueOf(command.get("type"));
            switch (type) {
                case "plan":
                    session.plan(command);
                    break;
                case "setup":
                    session.setup(command);
                    break;
                case "go":
                    session.go(command);
                    break;
                case "stop":
                    return command.containsKey("limit_ms");
                default:
                    session.other(type, command);
            }
        }
        return false;
    }
}
