package rocketdiff.driver;

import java.util.Map;

/** What this driver does with its client in one role; Session calls it in this order. */
public interface RoleRunner {
    /** Takes a line of the plan; all of them come before setup. */
    void plan(Map<String, Object> line);

    /** Reads the role's part of setup. */
    void setup(Map<String, Object> line);

    /** Warms up and makes the client ready. */
    void prepare() throws Exception;

    /** Does all that was planned, counted from startNs of the monotonic clock; the number of operations. */
    int run(long startNs) throws Exception;

    /** What it is at, for a failure. */
    String stage();

    /** Ends the clients cleanly; may block for seconds on a paused broker. */
    void shutdown();
}
