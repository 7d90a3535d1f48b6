package rocketdiff.simulation.servers;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import rocketdiff.simulation.json.JsonText;

/** A script's route: brokers in the order of the name server's answer; not known: the topic does not exist. */
public final class Route {
    /** What is said of one broker. */
    static final class Entry {
        final String broker;
        long queues;
        long permission = 6;
        boolean master = true;
        /** The name of the server at its address. */
        String server;
        /** The names of the servers of its slaves by their ids. */
        final TreeMap<Long, String> slaves = new TreeMap<>();

        Entry(String broker) {
            this.broker = broker;
            this.server = broker;
        }
    }

    public final boolean isKnown;
    final List<Entry> entries = new ArrayList<>();

    public Route(Map<?, ?> written) {
        isKnown = written != null;
        if (isKnown) {
            written.forEach((broker, told) -> entries.add(entry((String) broker, told)));
        }
    }

    private static Entry entry(String broker, Object told) {
        Entry entry = new Entry(broker);
        if (told instanceof Long) {
            entry.queues = (Long) told;
            return entry;
        }
        Map<?, ?> members = (Map<?, ?>) told;
        entry.queues = (Long) members.get("queues");
        if (members.containsKey("perm")) {
            entry.permission = (Long) members.get("perm");
        }
        if (members.containsKey("master")) {
            entry.master = (Boolean) members.get("master");
        }
        if (members.containsKey("at")) {
            entry.server = (String) members.get("at");
        }
        if (members.containsKey("slaves")) {
            ((Map<?, ?>) members.get("slaves")).forEach((server, id) -> entry.slaves.put((Long) id, (String) server));
        }
        return entry;
    }

    byte[] body(Network network) {
        StringBuilder brokers = new StringBuilder();
        StringBuilder queues = new StringBuilder();
        for (Entry entry : entries) {
            String separator = brokers.length() == 0 ? "" : ",";
            String name = JsonText.of(entry.broker);
            brokers.append(separator).append("{\"brokerAddrs\":").append(addresses(entry, network)).append(",\"brokerName\":").append(name)
                .append(",\"cluster\":\"simulation\"}");
            queues.append(separator).append("{\"brokerName\":").append(name).append(",\"perm\":")
                .append(entry.permission).append(",\"readQueueNums\":").append(entry.queues)
                .append(",\"writeQueueNums\":").append(entry.queues).append('}');
        }
        String body = "{\"brokerDatas\":[" + brokers + "],\"filterServerTable\":{},\"queueDatas\":[" + queues + "]}";
        return body.getBytes(StandardCharsets.UTF_8);
    }

    /** The same brokers, with a queue each that can only be written to. */
    byte[] retryBody(Network network) {
        String body = new String(body(network), StandardCharsets.UTF_8);
        return body.replaceAll("\"perm\":[0-9]+", "\"perm\":2").replaceAll("QueueNums\":[0-9]+", "QueueNums\":1")
            .getBytes(StandardCharsets.UTF_8);
    }

    private static String addresses(Entry entry, Network network) {
        TreeMap<Long, String> servers = new TreeMap<>(entry.slaves);
        if (entry.master || servers.isEmpty()) {
            servers.put(entry.master ? 0L : 1L, entry.server);
        }
        StringBuilder addresses = new StringBuilder("{");
        servers.forEach((id, server) -> addresses.append(addresses.length() == 1 ? "" : ",").append('"').append(id)
            .append("\":\"").append(network.broker(server).address).append('"'));
        return addresses.append('}').toString();
    }
}
