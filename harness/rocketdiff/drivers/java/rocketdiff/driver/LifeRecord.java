package rocketdiff.driver;

import java.util.Collection;
import java.util.List;
import rocketdiff.line.JsonLine;

/** The lines that frame a run: hello, ready, done, failed. */
final class LifeRecord implements Record {
    private static final int PROTOCOL = 1;

    private final String line;

    private LifeRecord(StringBuilder line) {
        this.line = line.toString();
    }

    static LifeRecord hello(String version, Collection<String> roles, List<String> capabilities, long pid, long nowNs) {
        StringBuilder out = new StringBuilder();
        new JsonLine(out, "hello").with("protocol", PROTOCOL).with("client", "java").with("version", version)
            .with("roles", roles).with("capabilities", capabilities).with("pid", pid).with("clock_ns", nowNs).end();
        return new LifeRecord(out);
    }

    static LifeRecord ready(long nowNs) {
        StringBuilder out = new StringBuilder();
        new JsonLine(out, "ready").with("clock_ns", nowNs).end();
        return new LifeRecord(out);
    }

    static LifeRecord done(String counted, int operations) {
        StringBuilder out = new StringBuilder();
        new JsonLine(out, "done").with(counted, operations).end();
        return new LifeRecord(out);
    }

    static LifeRecord failed(String stage, Throwable why) {
        StringBuilder out = new StringBuilder();
        String message = Failure.name(why) + ": " + Failure.message(why);
        new JsonLine(out, "failed").with("stage", stage).with("message", message).end();
        return new LifeRecord(out);
    }

    @Override
    public void write(StringBuilder out) {
        out.append(line);
    }
}
