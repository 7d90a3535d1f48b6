package rocketdiff.simulation.servers;

import java.util.LinkedHashMap;
import java.util.Map;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.Scheduler;

/** The servers of a script by name and by address, and the route the name server tells. */
public final class Network {
    private static final int BROKER_PORT = 10911;
    /** VIP channel: the port the client uses is two below the one it is told. */
    private static final int VIP_OFFSET = 2;

    public final ScriptedServer nameServer;
    private final Scheduler scheduler;
    private final Map<String, ScriptedServer> brokers = new LinkedHashMap<>();
    private final Map<String, ScriptedServer> byAddress = new LinkedHashMap<>();
    private Route route;

    public Network(Scheduler scheduler, Route route) {
        this.scheduler = scheduler;
        this.nameServer = new ScriptedServer(scheduler, null, "10.1.0.1:9876");
        byAddress.put(nameServer.address, nameServer);
        setRoute(route);
    }

    /** What the name server tells from now on. */
    public void setRoute(Route told) {
        route = told;
        for (Route.Entry entry : told.entries) {
            add(entry.server);
            entry.slaves.values().forEach(this::add);
        }
    }

    public Route route() {
        return route;
    }

    private void add(String broker) {
        if (!brokers.containsKey(broker)) {
            int number = brokers.size() + 1;
            String host = "10.0." + (number >> 8) + "." + (number & 255) + ":";
            ScriptedServer server = new ScriptedServer(scheduler, broker, host + BROKER_PORT);
            brokers.put(broker, server);
            byAddress.put(server.address, server);
            byAddress.put(host + (BROKER_PORT - VIP_OFFSET), server);
        }
    }

    /** The broker of a name; also one that no route has named yet. */
    public ScriptedServer broker(String name) {
        add(name);
        return brokers.get(name);
    }

    /** Who listens at an address; null is what the client calls the name servers. */
    public ScriptedServer at(String address) {
        ScriptedServer server = address == null ? nameServer : byAddress.get(address);
        if (server == null) {
            throw new Failure(Failure.HOST, "nobody listens at " + address);
        }
        return server;
    }

    /** The name of the broker at an address. */
    public String brokerAt(String address) {
        return at(address).name;
    }

    public boolean isVip(String address) {
        return address != null && !at(address).address.equals(address);
    }

    /** The name server's answer to a question for the topic's route: a TopicRouteData as JSON. */
    public byte[] routeBody() {
        return route.body(this);
    }

    /** The answer for the retry topic of a group, when name servers know it. */
    public byte[] retryBody() {
        return route.retryBody(this);
    }
}
