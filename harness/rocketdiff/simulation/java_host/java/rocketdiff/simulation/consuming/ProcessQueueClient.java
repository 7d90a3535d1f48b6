package rocketdiff.simulation.consuming;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.VirtualThread;
import rocketdiff.simulation.servers.Network;

/** One real ProcessQueue, called as pulls and listeners call it; no client is started. */
public class ProcessQueueClient extends AllocationClient implements Processing {
    private final ProcessQueueClasses of;
    private final Scheduler scheduler;
    private final Object queue;
    /** The messages that were put last, by offset. */
    private final Map<Long, Object> known = new HashMap<>();

    public ProcessQueueClient(Release release, Scheduler scheduler, Network network) {
        super(release, network);
        this.of = ProcessQueueClasses.of(release);
        this.scheduler = scheduler;
        this.queue = Members.make(of.queue, new Class<?>[0]);
    }

    @Override
    public Object put(List<?> offsets, int bytes) throws Throwable {
        for (Object offset : offsets) {
            known.put((Long) offset, of.message((Long) offset, bytes));
        }
        return Members.call(of.put, queue, named(offsets));
    }

    @Override
    public Object remove(List<?> offsets) throws Throwable {
        long next = (Long) Members.call(of.remove, queue, named(offsets));
        return next == -1 ? null : (Object) next;
    }

    @Override
    public Object take(int count) throws Throwable {
        List<Object> offsets = new ArrayList<>();
        for (Object message : (List<?>) Members.call(of.take, queue, count)) {
            offsets.add(Members.must(of.offset, message));
        }
        return offsets;
    }

    @Override
    public Object commit() throws Throwable {
        return Members.call(Members.method(of.queue, "commit", 0), queue);
    }

    @Override
    public void rollback() {
        Members.must(Members.method(of.queue, "rollback", 0), queue);
    }

    @Override
    public void consumeAgain(List<?> offsets) {
        Members.must(of.consumeAgain, queue, named(offsets));
    }

    @Override
    public void pulled() {
        Members.must(Members.method(of.queue, "setLastPullTimestamp", 1), queue, Scheduler.EPOCH_MS + scheduler.nowMs());
    }

    /** One that never was put has a body of one byte. */
    private List<Object> named(List<?> offsets) {
        List<Object> messages = new ArrayList<>();
        for (Object offset : offsets) {
            Object put = known.get(offset);
            messages.add(put == null ? of.message((Long) offset, 1) : put);
        }
        return messages;
    }

    @Override
    public void appendPart(StringBuilder out, String part, VirtualThread thread) {
        if (!part.equals("process")) {
            super.appendPart(out, part, thread);
            return;
        }
        out.append("{\"waiting\": ").append(((Map<?, ?>) Members.get(of.waiting, queue)).keySet());
        out.append(", \"taken\": ").append(((Map<?, ?>) Members.get(of.taken, queue)).keySet());
        out.append(", \"count\": ").append(Members.get(of.count, queue));
        out.append(", \"bytes\": ").append(of.bytes == null ? null : Members.get(of.bytes, queue));
        out.append(", \"span\": ").append(Members.must(Members.method(of.queue, "getMaxSpan", 0), queue));
        Object expired = Members.must(Members.method(of.queue, "isPullExpired", 0), queue);
        out.append(", \"is_pull_expired\": ").append(expired).append('}');
    }

    @Override
    public void appendState(StringBuilder out, VirtualThread thread) {
        appendPart(out.append("{\"process\": "), "process", thread);
        out.append('}');
    }
}
