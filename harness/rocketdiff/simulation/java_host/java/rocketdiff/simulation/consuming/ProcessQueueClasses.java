package rocketdiff.simulation.consuming;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Release;

/** A release's ProcessQueue and its messages. */
final class ProcessQueueClasses {
    final Class<?> queue;
    final Method put;
    final Method remove;
    final Method take;
    final Method consumeAgain;
    final Field waiting;
    final Field taken;
    final Field count;
    /** Null: the release has none. */
    final Field bytes;
    final Class<?> message;
    final Method setOffset;
    final Method offset;
    final Method setBody;

    private ProcessQueueClasses(Release release) {
        queue = release.type("client.impl.consumer.ProcessQueue");
        put = Members.method(queue, "putMessage", 1);
        remove = Members.method(queue, "removeMessage", 1);
        take = oneOf("takeMessages", "takeMessags");
        consumeAgain = oneOf("makeMessageToConsumeAgain", "makeMessageToCosumeAgain");
        waiting = Members.field(queue, "msgTreeMap");
        taken = Members.field(queue, "consumingMsgOrderlyTreeMap", "msgTreeMapTemp");
        count = Members.field(queue, "msgCount");
        bytes = Members.fieldOrNull(queue, "msgSize");
        message = release.type("common.message.MessageExt");
        setOffset = Members.method(message, "setQueueOffset", 1);
        offset = Members.method(message, "getQueueOffset", 0);
        setBody = Members.method(message, "setBody", 1);
    }

    static ProcessQueueClasses of(Release release) {
        return release.view(ProcessQueueClasses.class, ProcessQueueClasses::new);
    }

    /** A message of the queue; without bytes it has no body, as a decoded one. */
    Object message(long queueOffset, int bytes) {
        Object made = Members.make(message, new Class<?>[0]);
        Members.must(setOffset, made, queueOffset);
        if (bytes > 0) {
            Members.must(setBody, made, (Object) new byte[bytes]);
        }
        return made;
    }

    private Method oneOf(String name, String before) {
        Method now = Members.methodOrNull(queue, name, 1);
        return now == null ? Members.method(queue, before, 1) : now;
    }
}
