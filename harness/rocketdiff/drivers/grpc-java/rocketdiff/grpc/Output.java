package rocketdiff.grpc;

import java.io.PrintStream;
import rocketdiff.line.JsonLine;

/** Lines to the runner, each written at once: a gRPC send takes milliseconds, so a line's few microseconds do not show. */
final class Output {
    private final PrintStream out;

    Output(PrintStream out) {
        this.out = out;
    }

    synchronized void put(JsonLine line) {
        out.print(line.text());
        out.flush();
    }
}
