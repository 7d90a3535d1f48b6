package rocketdiff.driver.sending;

import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;
import rocketdiff.driver.RecordSink;

/** One sender thread: its own sends, in order, one at a time, none before it is due (closed loop). */
final class Sender extends Thread {
    /** A parked thread wakes 50-60 us late on Linux (timer slack); only this last stretch is spun. */
    private static final long SPIN_NS = 50_000;

    private final List<PlannedSend> plan;
    private final long startNs;
    private final SendCalls calls;
    private final Messages messages;
    private final RouteWatch routes;
    private final RecordSink sink;
    private final AttemptLog attempts;
    private final AsyncSends asyncSends;

    Sender(int thread, List<PlannedSend> plan, long startNs, SendCalls calls, Messages messages, RouteWatch routes,
            RecordSink sink, AsyncSends asyncSends) {
        super("sender-" + thread);
        setDaemon(true);
        this.plan = plan;
        this.startNs = startNs;
        this.calls = calls;
        this.messages = messages;
        this.routes = routes;
        this.sink = sink;
        this.attempts = new AttemptLog(thread, sink);
        this.asyncSends = asyncSends;
    }

    /** The attempts of the send this thread is in; null on a thread of the client. */
    static AttemptLog currentAttempts() {
        Thread thread = Thread.currentThread();
        return thread instanceof Sender ? ((Sender) thread).attempts : null;
    }

    @Override
    public void run() {
        for (PlannedSend send : plan) {
            await(startNs + send.dueNs);
            if (send.isAsync()) {
                sendAsync(send);
            } else {
                send(send);
            }
        }
    }

    /** Over for this thread when the call returns; the rest is told by the client's own threads. */
    private void sendAsync(PlannedSend send) {
        AsyncSend async = new AsyncSend(send, routes.version(), routes, sink, System.nanoTime());
        asyncSends.add(send.send, messages.id(send.send), async);
        Throwable error = null;
        try {
            Message message = messages.message(send);
            calls.sendAsync(send, message, calls.target(send), AsyncSends.callback(async));
        } catch (Throwable thrown) {
            // Whatever the client throws is what it did; Errors included.
            error = thrown;
        }
        async.returned(System.nanoTime(), error);
    }

    private void send(PlannedSend send) {
        int route = routes.version();
        attempts.sendStarts(send.send);
        SendResult result = null;
        Throwable error = null;
        long callNs = System.nanoTime();
        try {
            Message message = messages.message(send);
            MessageQueue target = calls.target(send);
            callNs = System.nanoTime();
            result = calls.send(send, message, target);
        } catch (Throwable thrown) {
            // Whatever the client throws is what it did; Errors included.
            error = thrown;
        }
        long returnNs = System.nanoTime();
        attempts.closeWithoutReport(returnNs, error);
        sink.put(new SendRecord(send, callNs, returnNs, result, error, route, routes.version()));
    }

    private static void await(long dueNs) {
        for (long left = dueNs - System.nanoTime(); left > 0; left = dueNs - System.nanoTime()) {
            if (left > SPIN_NS) {
                LockSupport.parkNanos(left - SPIN_NS);
            }
        }
    }
}
