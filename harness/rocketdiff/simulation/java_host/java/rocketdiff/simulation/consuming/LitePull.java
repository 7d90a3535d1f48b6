package rocketdiff.simulation.consuming;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.json.JsonText;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Network;

/** A real DefaultLitePullConsumer from 4.6.1 on, called as an application calls it; that of 4.6.0 cannot begin in a new group. */
final class LitePull {
    private static final String TYPE = "client.consumer.DefaultLitePullConsumer";
    private static final String DONE = "{\"done\": true}";
    private final Release release;
    private final Scheduler scheduler;
    private final Network network;
    final Object consumer;

    LitePull(Release release, Scheduler scheduler, Network network) {
        this.release = release;
        this.network = network;
        this.scheduler = scheduler;
        Class<?> type = release.typeOrNull(TYPE);
        if (type == null || Members.methodOrNull(type, "setConsumeFromWhere", 1) == null) {
            throw new UnsupportedOperationException("this release has no lite pull consumer that can begin in a new group");
        }
        consumer = Members.make(type, new Class<?>[] {String.class}, AllocationClient.GROUP);
    }

    String poll(long ms) throws Throwable {
        List<?> messages = (List<?>) call("poll", new Class<?>[] {long.class}, ms);
        StringBuilder out = new StringBuilder("{\"at_ms\": ").append(scheduler.nowMs()).append(", \"got\": [");
        String separator = "";
        for (Object message : messages) {
            JsonText.append(out.append(separator), ConsumptionHook.at(network, message));
            separator = ", ";
        }
        return out.append("]}").toString();
    }

    /** queues: broker and id of each in turn; null: all, with the next commit. */
    String commit(List<Object> queues) throws Throwable {
        if (queues == null) {
            call("commitSync", new Class<?>[0]);
        } else if (Members.methodOrNull(consumer.getClass(), "commit", 2) == null) {
            throw new UnsupportedOperationException("this release commits no single queues");
        } else {
            call("commit", new Class<?>[] {Set.class, boolean.class}, new HashSet<>(queues(queues)), true);
        }
        return DONE;
    }

    String seek(String broker, int queue, long offset, String to) throws Throwable {
        if (to != null) {
            String name = to.equals("begin") ? "seekToBegin" : "seekToEnd";
            call(name, new Class<?>[] {release.type("common.message.MessageQueue")}, queue(broker, queue));
            return DONE;
        }
        call("seek", new Class<?>[] {release.type("common.message.MessageQueue"), long.class}, queue(broker, queue), offset);
        return DONE;
    }

    String pause(String broker, int queue, boolean pauses) throws Throwable {
        call(pauses ? "pause" : "resume", new Class<?>[] {Collection.class},
            Collections.singletonList(queue(broker, queue)));
        return DONE;
    }

    /** queues: broker and id of each in turn. */
    String assign(List<Object> queues) throws Throwable {
        call("assign", new Class<?>[] {Collection.class}, queues(queues));
        return DONE;
    }

    private List<Object> queues(List<Object> named) {
        List<Object> queues = new ArrayList<>();
        for (int i = 0; i < named.size(); i += 2) {
            queues.add(queue((String) named.get(i), Math.toIntExact((Long) named.get(i + 1))));
        }
        return queues;
    }

    /** The queues that it works on without a subscription, with the messages of each. */
    Map<?, ?> assigned() {
        Object impl = Members.get(consumer, "defaultLitePullConsumerImpl");
        Map<?, ?> states = (Map<?, ?>) Members.get(Members.get(impl, "assignedMessageQueue"), "assignedMessageQueueState");
        Map<Object, Object> processing = new HashMap<>();
        states.forEach((queue, state) -> processing.put(queue, Members.get(state, "processQueue")));
        return processing;
    }

    private Object queue(String broker, int queue) {
        return Members.make(release.type("common.message.MessageQueue"),
            new Class<?>[] {String.class, String.class, int.class}, AllocationClient.TOPIC, broker, queue);
    }

    private Object call(String name, Class<?>[] parameters, Object... arguments) throws Throwable {
        Method method = Members.method(consumer.getClass(), name, parameters);
        return Members.call(method, consumer, arguments);
    }
}
