package rocketdiff.driver;

import org.apache.rocketmq.client.hook.SendMessageContext;
import org.apache.rocketmq.client.hook.SendMessageHook;
import org.apache.rocketmq.client.producer.SendResult;

/**
 * The client calls this on the sending thread around every request it makes for a send.
 *
 * <p>The clock is read first before and last after, so that the attempt's times enclose the request as widely as the
 * hook can see: the client's own latency measurement lies just outside them.
 */
final class AttemptHook implements SendMessageHook {
    @Override
    public String hookName() {
        return "rocketdiff";
    }

    @Override
    public void sendMessageBefore(SendMessageContext context) {
        long startNs = System.nanoTime();
        AttemptLog attempts = Sender.currentAttempts();
        if (attempts != null) {
            attempts.attemptStarts(context.getMq(), startNs);
        }
    }

    @Override
    public void sendMessageAfter(SendMessageContext context) {
        AttemptLog attempts = Sender.currentAttempts();
        if (attempts != null) {
            SendResult result = context.getSendResult();
            attempts.attemptEnds(context.getException(), result == null ? null : result.getSendStatus().name());
        }
    }
}
