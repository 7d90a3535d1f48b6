package rocketdiff.driver.sending;

/** An attempt whose end has not been seen yet. */
final class OpenAttempt {
    final int send;
    final int thread;
    final int attempt;
    final String broker;
    final int queueId;
    final long startNs;

    OpenAttempt(int send, int thread, int attempt, String broker, int queueId, long startNs) {
        this.send = send;
        this.thread = thread;
        this.attempt = attempt;
        this.broker = broker;
        this.queueId = queueId;
        this.startNs = startNs;
    }
}
