package rocketdiff.simulation.consuming;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.servers.Network;

/** The application's hook of consumption (ConsumeMessageHook), which lite pull consumers can have from 4.9.0 on. */
final class ConsumptionHook {
    private ConsumptionHook() {
    }

    /** Tells which messages the hook of a consumer's implementation sees before they are consumed, if it can have one. */
    static void register(Release release, Network network, Object impl, Consumer<String> seen) {
        Method register = Members.methodOrNull(impl.getClass(), "registerConsumeMessageHook", 1);
        if (register == null) {
            return;
        }
        Class<?> hook = release.type("client.hook.ConsumeMessageHook");
        Members.must(register, impl, Proxy.newProxyInstance(release.loader, new Class<?>[] {hook}, (proxy, method, arguments) -> {
            if (method.getName().equals("consumeMessageBefore")) {
                List<?> messages = (List<?>) get(arguments[0], "getMsgList");
                for (Object message : messages == null ? Collections.emptyList() : messages) {
                    boolean isOfTopic = get(message, "getTopic").equals(AllocationClient.TOPIC);
                    seen.accept(at(network, message) + (isOfTopic ? "" : " of the retry topic"));
                }
            }
            return method.getName().equals("hookName") ? "simulation" : null;
        }));
    }

    /** Names a message by its queue and its offset. */
    static String at(Network network, Object message) {
        InetSocketAddress host = (InetSocketAddress) get(message, "getStoreHost");
        return network.brokerAt(host.getAddress().getHostAddress() + ":" + host.getPort()) + "/" + get(message, "getQueueId")
            + " " + get(message, "getQueueOffset");
    }

    private static Object get(Object message, String getter) {
        return Members.must(Members.method(message.getClass(), getter, 0), message);
    }
}
