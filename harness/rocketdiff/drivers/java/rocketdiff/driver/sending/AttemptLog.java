package rocketdiff.driver.sending;

import org.apache.rocketmq.common.message.MessageQueue;
import rocketdiff.driver.Failure;
import rocketdiff.driver.RecordSink;

/** The attempts of one thread's current send; used by that thread only. */
final class AttemptLog {
    /** The error an attempt ends under when the client told neither its result nor its exception. */
    private static final String UNREPORTED = "UnreportedAttempt";

    private final int thread;
    private final RecordSink sink;
    private int send;
    private int attempts;
    private OpenAttempt open;

    AttemptLog(int thread, RecordSink sink) {
        this.thread = thread;
        this.sink = sink;
    }

    void sendStarts(int send) {
        this.send = send;
        this.attempts = 0;
        this.open = null;
    }

    void attemptStarts(MessageQueue queue, long startNs) {
        closeWithoutReport(startNs, null);
        open = new OpenAttempt(send, thread, attempts++, queue.getBrokerName(), queue.getQueueId(), startNs);
    }

    void attemptEnds(Throwable error, String status) {
        String name = Failure.name(error);
        Integer code = Failure.code(error);
        end(System.nanoTime(), name, code, status);
    }

    /** Ends an attempt the client never reported: it left by an exception its hook is not told. */
    void closeWithoutReport(long nowNs, Throwable thrownBySend) {
        Throwable cause = thrownBySend == null ? null : Failure.deepest(thrownBySend);
        end(nowNs, cause == null ? UNREPORTED : Failure.name(cause), Failure.code(cause), null);
    }

    private void end(long endNs, String error, Integer code, String status) {
        if (open != null) {
            sink.put(new AttemptRecord(open, endNs, error, code, status));
            open = null;
        }
    }
}
