package rocketdiff.driver.sending;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;

/** Asynchronous sends by the id of their message, and the client's threads numbered as they are met choosing. */
final class AsyncSends {
    private final Map<String, AsyncSend> byId = new ConcurrentHashMap<>();
    private final Map<Integer, AsyncSend> inOrder = new ConcurrentSkipListMap<>();
    private final Map<Thread, Integer> choosers = new ConcurrentHashMap<>();
    private final AtomicInteger numbers = new AtomicInteger();

    void add(int number, String id, AsyncSend send) {
        byId.put(id, send);
        inOrder.put(number, send);
    }

    /** The send of a message's id; null for those that are not asynchronous. */
    AsyncSend of(String id) {
        return id == null || byId.isEmpty() ? null : byId.get(id);
    }

    /** Number of the running thread; null where it is the one that called, whose counters are its own. */
    Integer chooser(AsyncSend send) {
        Thread thread = Thread.currentThread();
        return send.isCaller(thread) ? null : choosers.computeIfAbsent(thread, met -> numbers.getAndIncrement());
    }

    static SendCallback callback(AsyncSend send) {
        return new SendCallback() {
            @Override
            public void onSuccess(SendResult result) {
                send.calledBack(result, null);
            }

            @Override
            public void onException(Throwable error) {
                send.calledBack(null, error);
            }
        };
    }

    void awaitAll(long limitMs) throws InterruptedException {
        for (AsyncSend send : inOrder.values()) {
            send.await(limitMs);
        }
    }
}
