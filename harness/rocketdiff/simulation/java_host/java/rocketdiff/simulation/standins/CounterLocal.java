package rocketdiff.simulation.standins;

import java.util.IdentityHashMap;
import java.util.Map;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.VirtualThread;

/**
 * The ThreadLocal of a ThreadLocalIndex, kept by virtual thread: a script may say with which count a thread begins, and
 * what a thread has counted can be seen and set from another.
 */
public final class CounterLocal extends ThreadLocal<Object> {
    private final Map<VirtualThread, Object> counts = new IdentityHashMap<>(4);
    private VirtualThread last;
    private Object lastCount;

    @Override
    public Object get() {
        return count(Scheduler.current().running());
    }

    @Override
    public void set(Object count) {
        setCount(Scheduler.current().running(), count);
    }

    /** A thread's count; null before its first pick. */
    public Object count(VirtualThread thread) {
        if (thread == last) {
            return lastCount;
        }
        Object count = counts.get(thread);
        if (count == null) {
            count = Scheduler.current().firstCount.apply(this, thread);
        }
        remember(thread, count);
        return count;
    }

    public void setCount(VirtualThread thread, Object count) {
        count(thread); // so that a count the script gave is used up
        remember(thread, count);
    }

    private void remember(VirtualThread thread, Object count) {
        if (last != null) {
            counts.put(last, lastCount);
        }
        last = thread;
        lastCount = count;
    }
}
