package rocketdiff.driver;

import java.util.List;
import java.util.Map;

/** What the runner asks for: where, under which names, with which settings. */
final class Setup {
    final String nameServers;
    final String topic;
    final String warmTopic;
    final String group;
    final String run;
    final int threads;
    final long callbackLimitMs;
    final Map<String, Object> settings;
    final Security security;

    private Setup(Map<String, Object> line, String nameServers, Map<String, Object> settings) {
        this.nameServers = nameServers;
        this.topic = Fields.text(line, "topic");
        this.warmTopic = Fields.text(line, "warm_topic");
        this.group = Fields.text(line, "group");
        this.run = Fields.text(line, "run");
        this.threads = Fields.integer(line, "threads");
        this.callbackLimitMs = line.containsKey("callback_limit_ms") ? Fields.number(line, "callback_limit_ms") : 60_000;
        this.settings = settings;
        this.security = Security.of(line);
    }

    static Setup of(Map<String, Object> line) {
        StringBuilder addresses = new StringBuilder();
        for (Object address : (List<?>) Fields.of(line, "name_servers", List.class)) {
            addresses.append(addresses.length() == 0 ? "" : ";").append(address);
        }
        @SuppressWarnings("unchecked")
        Map<String, Object> settings = (Map<String, Object>) Fields.of(line, "settings", Map.class);
        return new Setup(line, addresses.toString(), settings);
    }

    int sendTimeoutMs() {
        return Fields.integer(settings, "send_msg_timeout_ms");
    }
}
