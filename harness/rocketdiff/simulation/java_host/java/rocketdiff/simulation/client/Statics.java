package rocketdiff.simulation.client;

import java.util.Collection;
import java.util.Map;

/** What a release keeps of its clients in static fields, which would reach, and keep alive, those of scripts that are over. */
public final class Statics {
    private Statics() {
    }

    /** Forgets the clients; to be called at the end of a script, whose client is left as it is. */
    public static void forgetClients(Release release) {
        ((Map<?, ?>) Members.get(single(release.type("client.impl.MQClientManager")), "factoryTable")).clear();
        Class<?> requests = release.typeOrNull("client.producer.RequestFutureHolder");
        if (requests != null) {
            ((Collection<?>) Members.get(single(requests), "producerSet")).clear();
        }
    }

    private static Object single(Class<?> type) {
        return Members.must(Members.method(type, "getInstance", 0), null);
    }
}
