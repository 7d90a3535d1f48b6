package rocketdiff.driver.sending;

import java.util.Map;
import rocketdiff.driver.Fields;
import rocketdiff.driver.Setup;

/** What the runner asks of a producer besides what it asks of any client. */
final class SendingSetup {
    final Setup client;
    final String topic;
    final String warmTopic;
    final String group;
    final int threads;
    final long callbackLimitMs;

    SendingSetup(Map<String, Object> line) {
        this.client = new Setup(line);
        this.topic = Fields.text(line, "topic");
        this.warmTopic = Fields.text(line, "warm_topic");
        this.group = Fields.text(line, "group");
        this.threads = Fields.integer(line, "threads");
        this.callbackLimitMs = line.containsKey("callback_limit_ms") ? Fields.number(line, "callback_limit_ms") : 60_000;
    }

    int sendTimeoutMs() {
        return Fields.integer(client.settings, "send_msg_timeout_ms");
    }
}
