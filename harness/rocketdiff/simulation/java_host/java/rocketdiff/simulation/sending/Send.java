package rocketdiff.simulation.sending;

import java.util.ArrayList;
import java.util.List;

/** One send of a script: how it is to be done, and the attempts seen so far. */
public final class Send {
    /** Which of the client's three ways of sending. */
    public enum Mode {
        SYNC, ASYNC, ONEWAY
    }

    /** What becomes of an async send. */
    public interface Callback {
        void succeeded(Object sendResult);

        void failed(Throwable cause);
    }

    public final Mode mode;
    /** The explicit queue's broker; null for the other forms. */
    public final String queueBroker;
    public final int queueId;
    /** The selector's argument; null for the other forms. */
    public final Integer selector;
    /** Null: the call without a timeout. */
    public final Long timeoutMs;
    /** Null: a message whose content does not matter. */
    public final Content content;
    /** Whether the answer has its requests. */
    public final boolean showsRequests;
    public final Callback callback;
    public final long beganMs;
    /** The SendResult that a sync send returned. */
    public Object result;
    public final List<Attempt> attempts = new ArrayList<>(4);

    public Send(
        Mode mode, String queueBroker, int queueId, Integer selector, Long timeoutMs, Content content,
        boolean showsRequests, Callback callback, long beganMs) {
        this.mode = mode;
        this.queueBroker = queueBroker;
        this.queueId = queueId;
        this.selector = selector;
        this.timeoutMs = timeoutMs;
        this.content = content;
        this.showsRequests = showsRequests;
        this.callback = callback;
        this.beganMs = beganMs;
    }
}
