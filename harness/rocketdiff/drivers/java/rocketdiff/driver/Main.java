package rocketdiff.driver;

import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import rocketdiff.driver.consuming.ConsumingRunner;
import rocketdiff.driver.sending.SendingRunner;
import rocketdiff.line.CommandLoop;

/**
 * The live subject: commands as NDJSON on stdin, records as NDJSON on stdout, everything else on stderr.
 *
 * <p>Ends with stop, with the end of stdin (the runner is gone) or with a command it cannot obey.
 */
public final class Main {
    /** Unregistering from a paused broker blocks for seconds; nobody waits for it. */
    private static final long SHUTDOWN_MS = 700;

    private static final Map<String, Function<RecordSink, RoleRunner>> ROLES = new LinkedHashMap<>();

    static {
        ROLES.put("producer", SendingRunner::new);
        ROLES.put("consumer", ConsumingRunner::new);
    }

    private Main() {
    }

    public static void main(String[] args) throws IOException {
        RecordWriter writer = new RecordWriter(new FileOutputStream(FileDescriptor.out));
        System.setOut(System.err);
        writer.start();
        writer.put(LifeRecord.hello(ClientVersion.read(), ROLES.keySet(), capabilities(), pid(), System.nanoTime()));
        Session session = new Session(writer, ROLES);
        int status = 0;
        boolean hasTime = false;
        try {
            hasTime = CommandLoop.run(System.in, session) && !session.isAlive();
        } catch (RuntimeException e) {
            status = 1;
            writer.put(LifeRecord.failed("command", e));
        }
        if (hasTime) {
            session.shutdown(); // then it ends as applications do: when no thread but daemons is left
            writer.flush();
        } else {
            end(session, writer, status);
        }
    }

    private static void end(Session session, RecordWriter writer, int status) {
        Thread limit = new Thread(() -> {
            sleep(SHUTDOWN_MS);
            Runtime.getRuntime().halt(status);
        }, "shutdown-limit");
        limit.setDaemon(true);
        limit.start();
        writer.flush();
        try {
            session.shutdown();
        } finally {
            Runtime.getRuntime().halt(status);
        }
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static List<String> capabilities() {
        List<String> capabilities = new ArrayList<>(SendingRunner.capabilities());
        capabilities.addAll(ConsumingRunner.capabilities());
        capabilities.addAll(Security.capabilities());
        Set<String> settings = new LinkedHashSet<>(SendingRunner.optionalSettings());
        settings.addAll(ConsumingRunner.optionalSettings());
        for (String setting : settings) {
            capabilities.add("setting:" + setting);
        }
        return capabilities;
    }

    private static long pid() throws IOException {
        // /proc/self is the process itself; the management beans would tell too, for 50 ms of class loading.
        return Long.parseLong(new File("/proc/self").getCanonicalFile().getName());
    }
}
