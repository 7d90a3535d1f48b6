package rocketdiff.grpc;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import org.apache.rocketmq.client.java.misc.MetadataUtils;
import rocketdiff.line.CommandLoop;
import rocketdiff.line.JsonLine;

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
        output.put(new JsonLine("hello").with("protocol", 1).with("client", "grpc-java")
            .with("version", MetadataUtils.getVersion())
            .raw("capabilities", "[\"grpc\",\"plain\",\"group\",\"async\"]")
            .with("pid", Long.parseLong(new File("/proc/self").getCanonicalFile().getName()))
            .with("clock_ns", System.nanoTime()));
        Session session = new Session(output);
        int status = 0;
        try {
            CommandLoop.run(System.in, session);
        } catch (RuntimeException e) {
            status = 1;
            output.put(new JsonLine("failed").with("stage", "command").with("message", String.valueOf(e)));
        }
        // Closing a producer waits for a proxy that may be paused; nobody waits for it here.
        Runtime.getRuntime().halt(status);
    }
}
