package rocketdiff.simulation.consuming;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.json.JsonText;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.VirtualThread;
import rocketdiff.simulation.servers.Network;
import rocketdiff.simulation.standins.CounterLocal;

/** The real strategies, called as a round of rebalancing calls them; no client is started. */
public class AllocationClient implements Allocator {
    static final String GROUP = "simulation";
    static final String TOPIC = "topic";

    final AllocationClasses classes;
    final Network network;

    public AllocationClient(Release release, Network network) {
        this.classes = AllocationClasses.of(release);
        this.network = network;
    }

    @Override
    @SuppressWarnings({"unchecked", "rawtypes"})
    public String share(Allocation asked) throws Throwable {
        List<Object> queues = new ArrayList<>(readable());
        List<String> ids = new ArrayList<>(asked.ids);
        Collections.sort((List) queues);
        Collections.sort(ids);
        Object strategy = classes.strategy(asked.strategy, asked, configured(asked));
        if (strategy == null) {
            throw new ClassNotFoundException(asked.strategy);
        }
        return text((List<?>) Members.call(classes.allocate, strategy, GROUP, asked.own, queues, ids));
    }

    private Collection<?> readable() {
        if (!network.route().isKnown) {
            return Collections.emptyList();
        }
        Object route = Members.must(classes.decodeRoute, null, network.routeBody(), classes.routeData);
        return (Collection<?>) Members.must(classes.toSubscribeInfo, null, TOPIC, route);
    }

    private List<Object> configured(Allocation asked) {
        if (asked.queues == null) {
            return null;
        }
        List<Object> queues = new ArrayList<>();
        for (int i = 0; i < asked.queues.size(); i += 2) {
            int id = Math.toIntExact((Long) asked.queues.get(i + 1));
            queues.add(classes.queue(TOPIC, (String) asked.queues.get(i), id));
        }
        return queues;
    }

    /** A share that was never configured is null, which a round takes for an empty one. */
    private String text(List<?> share) {
        StringBuilder out = new StringBuilder("[");
        for (Object queue : share == null ? Collections.emptyList() : share) {
            out.append(out.length() == 1 ? "" : ", ");
            JsonText.append(out, name(queue));
        }
        return out.append(']').toString();
    }

    final String name(Object queue) {
        return Members.must(classes.queueBroker, queue) + "/" + Members.must(classes.queueId, queue);
    }

    /** The queues that a member works on, in the order of their text. */
    final void appendOwned(StringBuilder out, Map<?, ?> processQueueTable) {
        List<String> owned = new ArrayList<>();
        processQueueTable.forEach((queue, process) -> {
            if (!Boolean.TRUE.equals(Members.must(Members.method(process.getClass(), "isDropped", 0), process))) {
                owned.add(name(queue));
            }
        });
        owned.sort(null);
        String separator = "[";
        for (String queue : owned) {
            JsonText.append(out.append(separator), queue);
            separator = ", ";
        }
        out.append(owned.isEmpty() ? "[]" : "]");
    }

    @Override
    public void pollRoutes() {
        throw new Failure(Failure.SCRIPT, "poll_routes at depth allocation");
    }

    @Override
    public void heartbeat() {
        throw new Failure(Failure.SCRIPT, "heartbeat at depth allocation");
    }

    @Override
    public void appendState(StringBuilder out, VirtualThread thread) {
        out.append("{}");
    }

    @Override
    public void appendPart(StringBuilder out, String part, VirtualThread thread) {
        throw new Failure(Failure.SCRIPT, part + " at depth allocation");
    }

    @Override
    public CounterLocal indexCounter() {
        return null;
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
