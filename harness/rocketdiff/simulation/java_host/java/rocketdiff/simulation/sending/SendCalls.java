package rocketdiff.simulation.sending;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import rocketdiff.simulation.client.Form;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Release;

/** Which call of a release's producer each kind of send is. */
final class SendCalls {
    private final Messages messages;
    private final Class<?> queue;
    private final Class<?> callback;
    private final Class<?> selectorType;
    private final Object selector;
    private final Class<?> producer;

    SendCalls(Release release) {
        producer = ProducerClasses.of(release).producer;
        messages = new Messages(release);
        queue = release.type("common.message.MessageQueue");
        callback = release.type("client.producer.SendCallback");
        selectorType = release.type("client.producer.MessageQueueSelector");
        selector = Proxy.newProxyInstance(release.loader, new Class<?>[] {selectorType}, (proxy, method, arguments) ->
            ((List<?>) arguments[0]).get(Math.floorMod((Integer) arguments[2], ((List<?>) arguments[0]).size())));
    }

    /** Makes the call; its result, or what it throws, comes out as it is. */
    Object call(Object onProducer, Send send, String mark) throws Throwable {
        Object sent = messages.message(send.content, mark);
        if (send.content != null && send.content.batch > 0) {
            return batch(onProducer, send, sent, mark);
        }
        Form form = new Form().with(messages.type, sent);
        if (send.queueBroker != null) {
            form.with(queue, Members.make(queue, new Class<?>[] {String.class, String.class, int.class},
                SelectionClient.TOPIC, send.queueBroker, send.queueId));
        } else if (send.selector != null) {
            form.with(selectorType, selector).with(Object.class, send.selector);
        }
        if (send.mode == Send.Mode.ASYNC) {
            form.with(callback, callback(send.callback));
        }
        if (send.timeoutMs != null && send.mode != Send.Mode.ONEWAY) {
            form.with(long.class, send.timeoutMs);
        }
        return form.call(producer, send.mode == Send.Mode.ONEWAY ? "sendOneway" : "send", onProducer);
    }

    private Object batch(Object onProducer, Send send, Object first, String mark) throws Throwable {
        List<Object> all = new ArrayList<>(Collections.singletonList(first));
        while (all.size() < send.content.batch) {
            all.add(messages.message(send.content, mark));
        }
        Method call = Members.methodOrNull(producer, "send", Collection.class);
        if (call == null) {
            throw new UnsupportedOperationException("no batch");
        }
        return Members.call(call, onProducer, all);
    }

    private Object callback(Send.Callback told) {
        Class<?>[] types = {callback};
        return Proxy.newProxyInstance(callback.getClassLoader(), types, (proxy, method, arguments) -> {
            if (method.getName().equals("onSuccess")) {
                told.succeeded(arguments[0]);
            } else if (method.getName().equals("onException")) {
                told.failed((Throwable) arguments[0]);
            }
            return null;
        });
    }
}
