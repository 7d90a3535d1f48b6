package rocketdiff.driver.consuming;

import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;
import org.apache.rocketmq.common.message.MessageQueue;

/** Looks at the queues that the client works on, and reports the set when it has changed. */
final class QueueTable extends Thread {
    /** The protocol allows 20 ms. */
    private static final long LOOK_NS = 10_000_000;

    private final GroupClient consumer;
    private final int incarnation;
    private final Reports reports;
    private volatile boolean isOver;
    private TreeSet<MessageQueue> last = new TreeSet<>();

    QueueTable(GroupClient consumer, int incarnation, Reports reports) {
        super("queue-table");
        setDaemon(true);
        this.consumer = consumer;
        this.incarnation = incarnation;
        this.reports = reports;
    }

    @Override
    public void run() {
        while (!isOver) {
            look();
            LockSupport.parkNanos(LOOK_NS);
        }
    }

    /** Looks for the last time, at a lite pull consumer that has been shut down: it leaves the queues in its table, and works on none. */
    void endWithNone() throws InterruptedException {
        end();
        if (!last.isEmpty()) {
            reports.owned(incarnation, System.nanoTime(), new TreeSet<>());
        }
    }

    /** Looks for the last time. */
    void end() throws InterruptedException {
        isOver = true;
        LockSupport.unpark(this);
        join();
        look();
    }

    private synchronized void look() {
        long atNs = System.nanoTime();
        TreeSet<MessageQueue> now = new TreeSet<>();
        for (Map.Entry<MessageQueue, ProcessQueue> each : consumer.processing().entrySet()) {
            if (!each.getValue().isDropped()) {
                now.add(each.getKey());
            }
        }
        if (!now.equals(last)) {
            last = now;
            reports.owned(incarnation, atNs, now);
        }
    }
}
