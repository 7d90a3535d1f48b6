package rocketdiff.grpc;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.rocketmq.client.java.misc.MetadataUtils;
import rocketdiff.json.JsonReader;

/**
 * The live subject over the Java client that speaks gRPC: commands as NDJSON on stdin, records as NDJSON on stdout, all else on stderr.
 *
 * <p>Ends with stop, with the end of stdin (the runner is gone) or with a command it cannot obey.
 */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) throws IOException {
        Output output = new Output(new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false, "UTF-8"));
        System.setOut(System.err);
        output.put(new Line("hello").with("protocol", 1).with("client", "grpc-java")
            .with("version", MetadataUtils.getVersion())
            .raw("capabilities", "[\"grpc\",\"plain\",\"group\",\"async\"]")
            .with("pid", Long.parseLong(new File("/proc/self").getCanonicalFile().getName()))
            .with("clock_ns", System.nanoTime()));
        Session session = new Session(output);
        int status = 0;
        try {
            obey(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)), session);
        } catch (RuntimeException e) {
            status = 1;
            output.put(new Line("failed").with("stage", "command").with("message", String.valueOf(e)));
        }
        // Closing a producer waits for a proxy that may be paused; nobody waits for it here.
        Runtime.getRuntime().halt(status);
    }

    private static void obey(BufferedReader commands, Session session) throws IOException {
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            @SuppressWarnings("unchecked")
            Map<String, Object> command = (Map<String, Object>) JsonReader.read(line);
            switch (String.valueOf(command.get("type"))) {
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
                    return;
                default:
                    throw new IllegalArgumentException("unknown command: " + line);
            }
        }
    }
}
