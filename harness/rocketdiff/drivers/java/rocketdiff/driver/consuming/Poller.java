package rocketdiff.driver.consuming;

import java.util.List;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * The application of a lite pull consumer: one thread polls, and works on what it got before it polls again.
 *
 * <p>The messages of a poll are of one queue, whose broker is known by the address in them: not every release names it.
 */
final class Poller extends Thread {
    private final LitePullClient consumer;
    private final ConsumingSetup setup;
    private final ScriptedListener application;
    private volatile boolean isOver;

    Poller(LitePullClient consumer, ConsumingSetup setup, ScriptedListener application) {
        super("poller");
        setDaemon(true);
        this.consumer = consumer;
        this.setup = setup;
        this.application = application;
    }

    @Override
    public void run() {
        while (!isOver) {
            List<MessageExt> messages = consumer.poll();
            if (!messages.isEmpty()) {
                MessageExt first = messages.get(0);
                String broker = setup.brokerAt(SeenMessage.hostAndPort(first.getStoreHost()));
                application.work(messages, new MessageQueue(first.getTopic(), broker, first.getQueueId()));
                if (setup.commitsItself()) {
                    consumer.commit();
                }
            }
        }
    }

    /** Ends the last poll and the work on it. */
    void end() throws InterruptedException {
        isOver = true;
        join();
    }
}
