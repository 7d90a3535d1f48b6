package rocketdiff.driver;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/** Formats and writes records on a thread of its own, so that a sender pays for one enqueue and nothing else. */
final class RecordWriter extends Thread implements RecordSink {
    /** The runner's liveness deadline and a crash lose at most this much; the protocol allows 20 ms. */
    private static final long PAUSE_NS = 10_000_000;

    private final ConcurrentLinkedQueue<Record> waiting = new ConcurrentLinkedQueue<>();
    private final OutputStream out;
    private final StringBuilder lines = new StringBuilder();

    RecordWriter(OutputStream out) {
        super("record-writer");
        setDaemon(true);
        this.out = out;
    }

    @Override
    public void put(Record record) {
        waiting.add(record);
    }

    @Override
    public void run() {
        while (true) {
            flush();
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    /** Writes everything put so far; also called on the way out, by whoever ends the process. */
    synchronized void flush() {
        lines.setLength(0);
        for (Record record = waiting.poll(); record != null; record = waiting.poll()) {
            record.write(lines);
        }
        if (lines.length() == 0) {
            return;
        }
        try {
            out.write(lines.toString().getBytes(StandardCharsets.UTF_8));
            out.flush();
        } catch (IOException runnerIsGone) {
            Runtime.getRuntime().halt(1);
        }
    }
}
