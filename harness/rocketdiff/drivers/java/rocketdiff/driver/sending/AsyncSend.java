package rocketdiff.driver.sending;

import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.producer.SendResult;
import rocketdiff.driver.Failure;
import rocketdiff.driver.Queue;
import rocketdiff.driver.Record;
import rocketdiff.driver.RecordSink;

/**
 * One asynchronous send: what hooks see of its attempts, its return, and every call of its callback. Safe for threads.
 *
 * <p>No hook is told why the client went on to another attempt: such an attempt ends, unseen, when the next begins.
 */
final class AsyncSend {
    /** The error of an attempt that was followed by another. */
    private static final String UNSEEN_END = "UnseenEnd";
    /** The error of a send whose callback was never called. */
    private static final String NEVER_CALLED_BACK = "NeverCalledBack";

    final long callNs;
    private final PlannedSend plan;
    private final int route;
    private final RouteWatch routes;
    private final RecordSink sink;
    private final Thread caller = Thread.currentThread();
    private int attempts;
    private boolean requested;
    private OpenAttempt open;
    private Integer chooser;
    private long returnedNs;
    private SendRecord answer;
    private boolean told;
    private final List<Record> again = new ArrayList<>();

    AsyncSend(PlannedSend plan, int route, RouteWatch routes, RecordSink sink, long callNs) {
        this.plan = plan;
        this.route = route;
        this.routes = routes;
        this.sink = sink;
        this.callNs = callNs;
    }

    /** The client has chosen the queue of the first attempt, in the running thread. */
    synchronized void chosen(Queue queue, Integer thread, long nowNs) {
        begin(queue, thread, nowNs);
    }

    /** A request is about to be written to a broker. */
    synchronized void requested(String broker, int queueId, Integer thread, long nowNs) {
        boolean isOfOpen = open != null && !requested && open.broker.equals(broker);
        if (!isOfOpen) {
            end(nowNs, UNSEEN_END, null, null);
            begin(new Queue(broker, queueId), thread, nowNs);
        }
        requested = true;
    }

    synchronized void calledBack(SendResult result, Throwable error) {
        long nowNs = System.nanoTime();
        Throwable cause = error == null ? null : Failure.deepest(error);
        end(nowNs, Failure.name(cause), Failure.code(cause), result == null ? null : result.getSendStatus().name());
        if (answer != null) {
            again.add(new CallbackRecord(plan, nowNs, error, result));
            tell();
            return;
        }
        answer = record(nowNs, result, error, Failure.name(error));
        tell();
    }

    /** The call is back; what it threw is its answer. */
    synchronized void returned(long nowNs, Throwable error) {
        returnedNs = nowNs;
        if (error != null && answer == null) {
            Throwable cause = Failure.deepest(error);
            end(nowNs, Failure.name(cause), Failure.code(cause), null);
            answer = record(nowNs, null, error, Failure.name(error));
        }
        tell();
    }

    /** Waits until the callback was called, to a limit. */
    synchronized void await(long limitMs) throws InterruptedException {
        long untilNs = callNs + limitMs * 1_000_000;
        for (long left = untilNs - System.nanoTime(); !told && left > 0; left = untilNs - System.nanoTime()) {
            wait(left / 1_000_000 + 1);
        }
        if (!told) {
            long nowNs = System.nanoTime();
            end(nowNs, UNSEEN_END, null, null);
            answer = record(nowNs, null, null, NEVER_CALLED_BACK);
            tell();
        }
    }

    boolean isCaller(Thread thread) {
        return thread == caller;
    }

    private void begin(Queue queue, Integer thread, long nowNs) {
        open = new OpenAttempt(plan.send, plan.thread, attempts++, queue.broker, queue.id, nowNs);
        chooser = thread;
        requested = false;
    }

    private void end(long nowNs, String error, Integer code, String status) {
        if (open != null) {
            sink.put(new AttemptRecord(open, nowNs, error, code, status, chooser));
            open = null;
        }
    }

    private SendRecord record(long nowNs, SendResult result, Throwable error, String name) {
        return new SendRecord(plan, callNs, nowNs, result, error, name, route, routes.version());
    }

    /** A callback may overtake the return of its call, and is told after it. */
    private void tell() {
        if (answer != null && returnedNs != 0 && !told) {
            told = true;
            sink.put(answer.returnedAt(returnedNs));
            notifyAll();
        }
        if (told) {
            for (Record record : again) {
                sink.put(record);
            }
            again.clear();
        }
    }
}
