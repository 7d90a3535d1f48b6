package rocketdiff.simulation.standins;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import rocketdiff.simulation.remoting.NettyRules;
import rocketdiff.simulation.scheduler.Scheduler;

/** Queues stay the JDK's; waiting for an element or for room is virtual. */
@StandsFor(BlockingQueue.class)
public final class QueueCalls {
    private QueueCalls() {
    }

    public static Object take(BlockingQueue<?> queue) throws InterruptedException {
        Object element = queue.poll();
        while (element == null) {
            Waits.until(() -> !queue.isEmpty());
            element = queue.poll();
        }
        return element;
    }

    public static Object poll(BlockingQueue<?> queue, long time, TimeUnit unit) throws InterruptedException {
        Object element = queue.poll();
        long deadlineMs = isPatient() ? Scheduler.FOREVER : Waits.deadlineMs(time, unit);
        while (element == null && Scheduler.current().await(() -> !queue.isEmpty(), deadlineMs)) {
            element = queue.poll();
        }
        Waits.refuseInterrupt();
        return element;
    }

    private static boolean isPatient() {
        Thread face = Scheduler.current().running().face;
        return face != null && NettyRules.isPatient(face.getName());
    }

    public static boolean add(BlockingQueue<Object> queue, Object element) {
        boolean added = queue.add(element);
        Scheduler.current().poke();
        return added;
    }

    public static boolean offer(BlockingQueue<Object> queue, Object element) {
        boolean taken = queue.offer(element);
        Scheduler.current().poke();
        return taken;
    }

    public static boolean offer(BlockingQueue<Object> queue, Object element, long time, TimeUnit unit)
        throws InterruptedException {
        long deadlineMs = Waits.deadlineMs(time, unit);
        while (!offer(queue, element)) {
            if (!Scheduler.current().await(() -> queue.remainingCapacity() > 0, deadlineMs)) {
                Waits.refuseInterrupt();
                return false;
            }
        }
        return true;
    }

    public static void put(BlockingQueue<Object> queue, Object element) throws InterruptedException {
        while (!offer(queue, element)) {
            Waits.until(() -> queue.remainingCapacity() > 0);
        }
    }
}
