package rocketdiff.simulation.client;

import java.lang.reflect.Method;
import java.util.Map;
import rocketdiff.simulation.wire.Network;
import rocketdiff.simulation.world.Failure;

/** The real strategy, fault table, publish info and index, called directly; nothing is sent. */
public class SelectionClient implements Client {
    public static final String TOPIC = "topic";
    protected static final String GROUP = "simulation";

    protected final Release release;
    protected final Network network;
    protected final Object producer;
    protected final Object producerImpl;
    /** What is published; an empty one while no route is known. */
    protected Object publishInfo;
    private final Object strategy;
    private final Memory memory;

    public SelectionClient(Release release, Network network, Map<String, Object> settings) {
        this.release = release;
        this.network = network;
        producer = Members.make(release.producer, new Class<?>[] {String.class}, GROUP);
        Settings.apply(producer, settings);
        producerImpl = Members.get(producer, "defaultMQProducerImpl");
        strategy = Members.get(release.mqFaultStrategy, producerImpl);
        publishInfo = Members.make(release.publishInfo, new Class<?>[0]);
        memory = new Memory(release, strategy, this::publishInfo);
    }

    /** The publish info that a selection would use now. */
    protected Object publishInfo() {
        return publishInfo;
    }

    /** Takes the route that the name server tells, through the client's own decoding and reading of it. */
    protected void takeRoute() {
        if (network.route().isKnown) {
            Object route = Members.must(release.decodeRoute, null, network.routeBody(), release.routeData);
            publishInfo = Members.must(release.toPublishInfo, null, TOPIC, route);
        }
    }

    @Override
    public Object select(String lastBroker, boolean resetIndex) throws Throwable {
        Object info = publishInfo();
        Method select = release.select;
        return select.getParameterCount() == 3
            ? Members.call(select, strategy, info, lastBroker, resetIndex)
            : Members.call(select, strategy, info, lastBroker);
    }

    @Override
    public void update(String broker, long latencyMs, boolean isolation, boolean reachable) {
        Method update = release.update;
        if (update.getParameterCount() == 4) {
            Members.must(update, strategy, broker, latencyMs, isolation, reachable);
        } else {
            Members.must(update, strategy, broker, latencyMs, isolation);
        }
    }

    @Override
    public void pollRoutes() {
        throw new Failure(Failure.SCRIPT, "poll_routes needs a deeper client");
    }

    @Override
    public void send(Send send) throws Throwable {
        throw new Failure(Failure.SCRIPT, "send at selection depth");
    }

    @Override
    public void heartbeat() {
        throw new Failure(Failure.SCRIPT, "heartbeat needs depth remoting");
    }

    @Override
    public Memory memory() {
        return memory;
    }

    @Override
    public String connections() {
        return "{}";
    }

    @Override
    public void close() {
        // Nothing was started.
    }
}
