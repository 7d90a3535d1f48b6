package rocketdiff.driver;

import org.apache.rocketmq.common.message.MessageQueue;

/** The attempts of one thread's current send; used by that thread only. */
final class AttemptLog {
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
        closeWithoutReport(null);
        open = new OpenAttempt(send, thread, attempts++, queue.getBrokerName(), queue.getQueueId(), startNs);
    }

    void attemptEnds(Throwable error, String status) {
        if (open != null) {
            Integer code = error == null ? null : Failure.code(error);
            String name = Failure.name(error);
            sink.put(new AttemptRecord(open, System.nanoTime(), name, code, status));
            open = null;
        }
    }

    /** Ends an attempt the client never reported: it left by an exception its hook is not told. */
    void closeWithoutReport(Throwable thrownBySend) {
        if (open != null) {
            attemptEnds(thrownBySend == null ? new UnreportedAttempt() : Failure.deepest(thrownBySend), null);
        }
    }

    /** The name an attempt ends under when the client told neither its result nor its exception. */
    private static final class UnreportedAttempt extends Exception {
        private static final long serialVersionUID = 1L;
    }
}
