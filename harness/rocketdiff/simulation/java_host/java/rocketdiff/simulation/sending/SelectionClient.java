package rocketdiff.simulation.sending;

import java.lang.reflect.Method;
import java.util.Map;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.client.Settings;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.VirtualThread;
import rocketdiff.simulation.servers.Network;
import rocketdiff.simulation.standins.CounterLocal;

/** The real strategy, fault table, publish info and index, called directly; nothing is sent. */
public class SelectionClient implements Producer {
    public static final String TOPIC = "topic";
    protected static final String GROUP = "simulation";

    protected final Release release;
    protected final ProducerClasses classes;
    protected final Network network;
    protected final Object producer;
    protected final Object producerImpl;
    /** What is published; an empty one while no route is known. */
    protected Object publishInfo;
    private final Object strategy;
    private final Memory memory;

    public SelectionClient(Release release, Network network, Map<String, Object> settings) {
        this.release = release;
        this.classes = ProducerClasses.of(release);
        this.network = network;
        producer = Members.make(classes.producer, new Class<?>[] {String.class}, GROUP);
        Settings.apply(producer, settings);
        producerImpl = Members.get(producer, "defaultMQProducerImpl");
        strategy = Members.get(classes.mqFaultStrategy, producerImpl);
        publishInfo = Members.make(classes.publishInfo, new Class<?>[0]);
        memory = new Memory(classes, strategy, this::publishInfo);
    }

    /** The publish info that a selection would use now. */
    protected Object publishInfo() {
        return publishInfo;
    }

    /** Takes the route that the name server tells, through the client's own decoding and reading of it. */
    protected void takeRoute() {
        if (network.route().isKnown) {
            Object route = Members.must(classes.decodeRoute, null, network.routeBody(), classes.routeData);
            publishInfo = Members.must(classes.toPublishInfo, null, TOPIC, route);
        }
    }

    @Override
    public Object select(String lastBroker, boolean resetIndex) throws Throwable {
        Object info = publishInfo();
        Method select = classes.select;
        return select.getParameterCount() == 3
            ? Members.call(select, strategy, info, lastBroker, resetIndex)
            : Members.call(select, strategy, info, lastBroker);
    }

    @Override
    public void update(String broker, long latencyMs, boolean isolation, boolean reachable) {
        Method update = classes.update;
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
    public void appendState(StringBuilder out, VirtualThread thread) {
        out.append("{\"index\": ");
        appendPart(out, "index", thread);
        out.append(", \"worst_index\": ");
        appendPart(out, "worst_index", thread);
        out.append(", \"queues\": ");
        appendPart(out, "queues", thread);
        out.append(", \"faults\": ");
        appendPart(out, "faults", thread);
        out.append('}');
    }

    @Override
    public void appendPart(StringBuilder out, String part, VirtualThread thread) {
        switch (part) {
            case "index":
                out.append(memory.index(thread));
                break;
            case "worst_index":
                out.append(memory.worstIndex(thread));
                break;
            case "queues":
                memory.appendQueues(out);
                break;
            default:
                memory.appendFaults(out);
        }
    }

    @Override
    public CounterLocal indexCounter() {
        return memory.indexCounter();
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
