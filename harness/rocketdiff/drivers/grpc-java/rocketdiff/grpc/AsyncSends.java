package rocketdiff.grpc;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import org.apache.rocketmq.client.apis.message.Message;
import org.apache.rocketmq.client.apis.producer.Producer;
import org.apache.rocketmq.client.apis.producer.SendReceipt;
import rocketdiff.line.JsonLine;

/** Asynchronous sends: each is told when its future has ended and its call is back. */
final class AsyncSends {
    private final ConcurrentLinkedQueue<Call> calls = new ConcurrentLinkedQueue<>();

    /** What making the message or the call throws is the send's end. */
    void send(Producer producer, Supplier<Message> message, long send, int thread, Output output) {
        Call call = new Call(send, thread, output);
        calls.add(call);
        call.beginNs = System.nanoTime();
        CompletableFuture<SendReceipt> future;
        try {
            future = producer.sendAsync(message.get());
        } catch (Throwable e) {
            call.ended(System.nanoTime(), e);
            call.returned(System.nanoTime());
            return;
        }
        long returnedNs = System.nanoTime();
        future.whenComplete((receipt, error) -> call.ended(System.nanoTime(), error));
        call.returned(returnedNs);
    }

    void awaitAll(long limitMs) throws InterruptedException {
        for (Call call : calls) {
            call.await(limitMs);
        }
    }

    private static final class Call {
        private final long send;
        private final int thread;
        private final Output output;
        private long beginNs;
        private long returnedNs;
        private JsonLine line;
        private boolean told;

        Call(long send, int thread, Output output) {
            this.send = send;
            this.thread = thread;
            this.output = output;
        }

        synchronized void ended(long nowNs, Throwable error) {
            if (line == null) {
                line = Ended.line(send, thread, beginNs, nowNs, error);
                tell();
            } else {
                output.put(new JsonLine("callback").with("send", send).with("thread", thread).with("at_ns", nowNs));
            }
        }

        synchronized void returned(long nowNs) {
            returnedNs = nowNs;
            tell();
        }

        synchronized void await(long limitMs) throws InterruptedException {
            long untilNs = beginNs + limitMs * 1_000_000;
            for (long left = untilNs - System.nanoTime(); !told && left > 0; left = untilNs - System.nanoTime()) {
                wait(left / 1_000_000 + 1);
            }
            if (!told) {
                line = new JsonLine("send").with("send", send).with("thread", thread).with("start_ns", beginNs)
                    .with("end_ns", System.nanoTime()).with("error", "NeverCalledBack");
                tell();
            }
        }

        private void tell() {
            if (line != null && returnedNs != 0 && !told) {
                told = true;
                output.put(line.with("returned_ns", returnedNs));
                notifyAll();
            }
        }
    }
}
