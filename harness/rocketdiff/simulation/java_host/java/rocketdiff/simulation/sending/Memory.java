package rocketdiff.simulation.sending;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.json.JsonText;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.VirtualThread;
import rocketdiff.simulation.standins.CounterLocal;

/** What a client remembers, read behind its interface: counters, publish list, fault table. */
public final class Memory {
    private final ProducerClasses classes;
    private final Object faultTable;
    private final Supplier<Object> publishInfo;

    /** The strategy is one for the client's life; the publish info changes with the route. */
    Memory(ProducerClasses classes, Object strategy, Supplier<Object> publishInfo) {
        this.classes = classes;
        this.faultTable = Members.get(classes.latencyFaultTolerance, strategy);
        this.publishInfo = publishInfo;
    }

    /** The raw counter of a thread, or null before its first pick. */
    public Integer index(VirtualThread thread) {
        return (Integer) indexCounter().count(thread);
    }

    public Integer worstIndex(VirtualThread thread) {
        return (Integer) worstCounter().count(thread);
    }

    /** The counter of the publish list that is in use now. */
    public CounterLocal indexCounter() {
        return counter(Members.get(classes.sendWhichQueue, publishInfo.get()));
    }

    public CounterLocal worstCounter() {
        return counter(Members.get(classes.worstIndex, faultTable));
    }

    private CounterLocal counter(Object threadLocalIndex) {
        return (CounterLocal) Members.get(classes.threadLocalIndex, threadLocalIndex);
    }

    /** The publish list as it now stands, as a JSON list. */
    public void appendQueues(StringBuilder out) {
        out.append('[');
        String separator = "";
        for (Object queue : (List<?>) Members.must(classes.messageQueues, publishInfo.get())) {
            out.append(separator);
            JsonText.append(out, queueBroker(queue) + queueId(queue));
            separator = ", ";
        }
        out.append(']');
    }

    /** The fault table by broker name, as a JSON object. */
    public void appendFaults(StringBuilder out) {
        Map<?, ?> table = (Map<?, ?>) Members.get(classes.faultItemTable, faultTable);
        out.append('{');
        String separator = "";
        for (Map.Entry<?, ?> item : new TreeMap<>(table).entrySet()) {
            out.append(separator);
            JsonText.append(out, (String) item.getKey());
            appendItem(out, item.getValue());
            separator = ", ";
        }
        out.append('}');
    }

    private void appendItem(StringBuilder out, Object item) {
        Object startMs = Members.get(classes.itemStart, item);
        out.append(": {\"latency_ms\": ").append(Members.get(classes.itemLatency, item));
        out.append(", \"available_at_ms\": ");
        if ((Long) startMs == 0) {
            out.append("null");
        } else {
            out.append((Long) startMs - Scheduler.EPOCH_MS);
        }
        boolean reachable = classes.itemReachable == null || (Boolean) Members.get(classes.itemReachable, item);
        out.append(", \"reachable\": ").append(reachable).append('}');
    }

    public String queueBroker(Object queue) {
        return (String) Members.must(classes.queueBroker, queue);
    }

    public int queueId(Object queue) {
        return (Integer) Members.must(classes.queueId, queue);
    }
}
