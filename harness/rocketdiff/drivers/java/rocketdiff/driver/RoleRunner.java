package rocketdiff.driver;

import java.util.Map;

/** What this driver does with its client in one role; Session calls it in this order. */
public interface RoleRunner {
    /** Takes a line of the plan (a producer's sends, a consumer's rules); all of them come before setup. */
    void plan(Map<String, Object> line);

    /** Reads the role's part of setup. */
    void setup(Map<String, Object> line);

    /** Warms up and makes the client ready. */
    void prepare() throws Exception;

    /** Whether it begins at go; otherwise it begins when it is ready, and obeys orders. */
    default boolean awaitsGo() {
        return true;
    }

    /** Takes a command that comes after ready; called by the reader of commands, so it must return at once. */
    default void order(Map<String, Object> line) {
        throw new IllegalStateException("expected commands of this role, saw " + line);
    }

    /** Does all that was planned, counted from startNs of the monotonic clock; the number of operations. */
    int run(long startNs) throws Exception;

    /** What the number of operations counts, as done names it. */
    default String counted() {
        return "sends";
    }

    /** What it is at, for a failure. */
    String stage();

    /** Ends the clients cleanly; may block for seconds on a paused broker. */
    void shutdown();
}
