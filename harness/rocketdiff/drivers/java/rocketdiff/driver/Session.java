package rocketdiff.driver;

import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import rocketdiff.line.CommandLoop;

/**
 * One run: prepare, say ready, wait for go, work, say done. Commands arrive on the reader's thread.
 *
 * <p>No daemon, like the threads of an application: those that a client makes are then as its users have them.
 */
final class Session extends Thread implements CommandLoop.Session {
    /** The role of a setup that names none. */
    private static final String PRODUCER = "producer";
    private static final String CONSUMER = "consumer";

    private final RecordSink sink;
    private final Map<String, Function<RecordSink, RoleRunner>> roles;
    private final CountDownLatch begin = new CountDownLatch(1);
    private String role;
    private volatile RoleRunner runner;
    private volatile boolean isSetUp;
    private volatile boolean ready;
    private volatile long startNs;

    /** By the name of a role in setup: what makes its runner. */
    Session(RecordSink sink, Map<String, Function<RecordSink, RoleRunner>> roles) {
        super("session");
        this.sink = sink;
        this.roles = roles;
    }

    /** Plan lines name no role: they are a producer's. */
    @Override
    public void plan(Map<String, Object> line) {
        require(!isSetUp, "plan lines come before setup");
        runner(PRODUCER).plan(line);
    }

    /** Rules are a consumer's plan; it joins and leaves as often as it is asked. */
    @Override
    public void other(String type, Map<String, Object> line) {
        switch (type) {
            case "rule":
                require(!isSetUp, "rules come before setup");
                runner(CONSUMER).plan(line);
                break;
            case "join":
            case "leave":
            case "apply":
                require(ready, type + " after ready");
                runner.order(line);
                break;
            default:
                throw new IllegalArgumentException("unknown command: " + line);
        }
    }

    @Override
    public void setup(Map<String, Object> line) {
        require(!isSetUp, "one setup");
        runner(line.containsKey("role") ? Fields.text(line, "role") : PRODUCER).setup(line);
        isSetUp = true;
        start();
    }

    @Override
    public void go(Map<String, Object> line) {
        require(ready && begin.getCount() == 1, "one go, after ready");
        startNs = Fields.number(line, "start_ns");
        begin.countDown();
    }

    @Override
    public void run() {
        try {
            runner.prepare();
            ready = true;
            sink.put(LifeRecord.ready(System.nanoTime()));
            if (runner.awaitsGo()) {
                begin.await();
            }
            sink.put(LifeRecord.done(runner.counted(), runner.run(startNs)));
        } catch (Throwable e) {
            e.printStackTrace();
            sink.put(LifeRecord.failed(runner.stage(), e));
        }
    }

    /** Ends the clients cleanly; may block for seconds on a paused broker. */
    void shutdown() {
        if (runner != null) {
            runner.shutdown();
        }
    }

    private RoleRunner runner(String asked) {
        if (runner == null) {
            require(roles.containsKey(asked), "a role of this driver (" + String.join(", ", roles.keySet()) + "), saw " + asked);
            runner = roles.get(asked).apply(sink);
            role = asked;
        }
        require(role.equals(asked), "lines of one role, saw " + role + " and " + asked);
        return runner;
    }

    private static void require(boolean condition, String expected) {
        if (!condition) {
            throw new IllegalStateException("expected " + expected);
        }
    }
}
