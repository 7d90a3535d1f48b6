package rocketdiff.driver.sending;

import org.apache.rocketmq.client.hook.SendMessageContext;
import org.apache.rocketmq.client.hook.SendMessageHook;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import rocketdiff.driver.Queue;

/**
 * The client calls this on the sending thread around every request it makes for a send; of an asynchronous one before the
 * first request, on the thread that chose its queue.
 *
 * <p>The clock is read first before and last after, so that the attempt's times enclose the request as widely as the
 * hook can see: the client's own latency measurement lies just outside them.
 */
final class AttemptHook implements SendMessageHook {
    private final AsyncSends asyncSends;

    AttemptHook(AsyncSends asyncSends) {
        this.asyncSends = asyncSends;
    }

    @Override
    public String hookName() {
        return "rocketdiff";
    }

    @Override
    public void sendMessageBefore(SendMessageContext context) {
        long startNs = System.nanoTime();
        AsyncSend async = asyncSend(context);
        if (async != null) {
            async.chosen(new Queue(context.getMq()), asyncSends.chooser(async), startNs);
            return;
        }
        AttemptLog attempts = Sender.currentAttempts();
        if (attempts != null) {
            attempts.attemptStarts(context.getMq(), startNs);
        }
    }

    @Override
    public void sendMessageAfter(SendMessageContext context) {
        AttemptLog attempts = Sender.currentAttempts();
        if (attempts != null && asyncSend(context) == null) {
            SendResult result = context.getSendResult();
            attempts.attemptEnds(context.getException(), result == null ? null : result.getSendStatus().name());
        }
    }

    private AsyncSend asyncSend(SendMessageContext context) {
        Message message = context.getMessage();
        return message == null ? null : asyncSends.of(message.getProperty(Messages.ID_PROPERTY));
    }
}
