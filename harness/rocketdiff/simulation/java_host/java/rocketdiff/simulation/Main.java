package rocketdiff.simulation;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import rocketdiff.json.JsonReader;
import rocketdiff.simulation.json.JsonText;
import rocketdiff.simulation.scheduler.Failure;

/** The virtual-time host: commands as NDJSON on stdin, answers as NDJSON on stdout, everything else on stderr. */
public final class Main {
    private static final int FLUSH_AT = 1 << 16;

    private final Host host = new Host();
    private final LastScript scripts = new LastScript();
    private final StringBuilder out = new StringBuilder();
    private final OutputStream stdout;

    private Main(OutputStream stdout) {
        this.stdout = stdout;
    }

    public static void main(String[] args) throws IOException {
        OutputStream stdout = new FileOutputStream(FileDescriptor.out);
        System.setOut(System.err);
        Main main = new Main(stdout);
        InputStreamReader stdin = new InputStreamReader(System.in, StandardCharsets.UTF_8);
        BufferedReader commands = new BufferedReader(stdin, FLUSH_AT);
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            main.obey(line);
            // Answers of pipelined commands go out together.
            if (main.out.length() >= FLUSH_AT || !commands.ready()) {
                main.flush();
            }
        }
        main.flush();
        System.exit(0);
    }

    @SuppressWarnings("unchecked")
    private void obey(String line) {
        CommandLine parts = new CommandLine(line);
        Map<String, Object> command = (Map<String, Object>) JsonReader.read(parts.head);
        if ("release".equals(command.get("type"))) {
            host.know((String) command.get("release"), (List<String>) command.get("class_path"));
        } else if ("run".equals(command.get("type"))) {
            run(command, parts.script);
        } else {
            throw new IllegalArgumentException("unknown command: " + line);
        }
    }

    private void run(Map<String, Object> command, String script) {
        String end = "{\"end\": " + command.get("id") + ", ";
        try {
            long virtualMs = host.run((String) command.get("release"), (String) command.get("depth"),
                (String) command.get("name"), scripts.of(script), Boolean.TRUE.equals(command.get("trace")), out);
            out.append(end).append("\"virtual_ms\": ").append(virtualMs).append("}\n");
        } catch (Failure why) {
            error(end, why.kind, why);
        } catch (RuntimeException | Error bug) {
            error(end, Failure.HOST, bug);
        }
    }

    private void error(String end, String kind, Throwable why) {
        if (kind.equals(Failure.HOST)) {
            why.printStackTrace();
        }
        String message = why instanceof Failure ? why.getMessage() : why.toString();
        out.append(end).append("\"error\": {\"kind\": ").append(JsonText.of(kind)).append(", \"message\": ");
        JsonText.append(out, message);
        out.append("}}\n");
    }

    private void flush() throws IOException {
        stdout.write(out.toString().getBytes(StandardCharsets.UTF_8));
        stdout.flush();
        out.setLength(0);
    }
}
