package rocketdiff.driver.consuming;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import rocketdiff.driver.Fields;
import rocketdiff.driver.RecordSink;
import rocketdiff.driver.RoleRunner;

/** The client as a member of a consumer group, which joins and leaves as it is asked. */
public final class ConsumingRunner implements RoleRunner {
    private final Reports reports;
    private final List<ListenerRule> rules = new ArrayList<>();
    private final BlockingQueue<Map<String, Object>> orders = new LinkedBlockingQueue<>();
    private ConsumingSetup setup;
    private volatile Member member;
    private volatile String stage = "warm-up";

    public ConsumingRunner(RecordSink sink) {
        this.reports = new Reports(sink);
    }

    /** What this driver can do as a consumer on the release of the class path. */
    public static List<String> capabilities() {
        List<String> all = new ArrayList<>(Arrays.asList("concurrent", "orderly", "clustering", "broadcasting", "allocations", "owned", "offsets",
            "content", "tags", "listener:later", "listener:level", "listener:throw", "listener:null", "listener:suspend", "listener:commit",
            "listener:ack-index"));
        if (LitePullClient.exists()) {
            all.addAll(Arrays.asList("lite-pull", "assign", "seek", "pause"));
        }
        return all;
    }

    /** Names of the settings that only some releases have. */
    public static List<String> optionalSettings() {
        return ConsumerSettings.optional();
    }

    @Override
    public void plan(Map<String, Object> line) {
        rules.add(new ListenerRule(line));
    }

    @Override
    public void setup(Map<String, Object> line) {
        setup = new ConsumingSetup(line);
        ConsumerSettings.setProperties(setup.properties);
        if (setup.isBroadcasting()) {
            ConsumerSettings.keepOffsetsIn("offsets");
        }
    }

    @Override
    public void prepare() throws Exception {
        new WarmMember(setup).run();
        stage = "membership";
        member = new Member(setup, rules, reports);
    }

    @Override
    public boolean awaitsGo() {
        return false;
    }

    @Override
    public void order(Map<String, Object> line) {
        orders.add(line);
    }

    /** Obeys until it has left for the last time; the number of calls. */
    @Override
    public int run(long startNs) throws Exception {
        while (true) {
            Map<String, Object> order = orders.take();
            awaitTime(Fields.number(order, "at_ns"));
            if (order.get("type").equals("join")) {
                member.join();
                continue;
            }
            if (order.get("type").equals("apply")) {
                member.apply(order);
                continue;
            }
            member.leave();
            if (order.containsKey("last") && Fields.flag(order, "last")) {
                return reports.awaitCalls();
            }
        }
    }

    @Override
    public String counted() {
        return "calls";
    }

    @Override
    public String stage() {
        return stage;
    }

    @Override
    public void shutdown() {
        if (member != null) {
            member.shutdown();
        }
    }

    private static void awaitTime(long atNs) {
        for (long leftNs = atNs - System.nanoTime(); leftNs > 0; leftNs = atNs - System.nanoTime()) {
            LockSupport.parkNanos(leftNs);
        }
    }
}
