package rocketdiff.driver.consuming;

/** How long a call works, and how it ends. */
final class CallEnd {
    final Outcome outcome;
    final Integer delayLevel;
    final Long suspendMs;
    final Integer ackIndex;
    final long workMs;

    /** rule: the heaviest that applies; null for none. */
    CallEnd(ListenerRule rule, Integer ackIndex, long workMs) {
        this.outcome = rule == null ? Outcome.SUCCESS : rule.outcome;
        this.delayLevel = rule == null ? null : rule.delayLevel;
        this.suspendMs = rule == null ? null : rule.suspendMs;
        this.ackIndex = outcome == Outcome.ACK_INDEX ? ackIndex : null;
        this.workMs = workMs;
    }

    /** As the application returns it: what is acknowledged in part is a success. */
    String result() {
        return outcome == Outcome.ACK_INDEX ? Outcome.SUCCESS.word : outcome.word;
    }
}
