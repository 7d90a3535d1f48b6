package rocketdiff.driver.consuming;

import java.util.List;

/** The rules of the listener, and what they make of the messages of one call. */
final class ListenerScript {
    private final List<ListenerRule> rules;
    private final long workMs;

    ListenerScript(List<ListenerRule> rules, long workMs) {
        this.rules = rules;
        this.workMs = workMs;
    }

    /** What a call does: it works as long as all messages together, and ends with the heaviest outcome. */
    CallEnd endOf(List<SeenMessage> messages) {
        long allWorkMs = 0;
        ListenerRule heaviest = null;
        Integer ackIndex = null;
        for (int place = 0; place < messages.size(); place++) {
            ListenerRule rule = ruleFor(messages.get(place));
            allWorkMs += rule == null || rule.workMs == null ? workMs : rule.workMs;
            if (rule != null && (heaviest == null || rule.outcome.compareTo(heaviest.outcome) < 0)) {
                heaviest = rule;
            }
            if (rule != null && rule.outcome == Outcome.ACK_INDEX && ackIndex == null) {
                ackIndex = place - 1;
            }
        }
        return new CallEnd(heaviest, ackIndex, allWorkMs);
    }

    private ListenerRule ruleFor(SeenMessage message) {
        for (ListenerRule rule : rules) {
            if (message.send != null && rule.appliesTo(message.send, message.times)) {
                return rule;
            }
        }
        return null;
    }
}
