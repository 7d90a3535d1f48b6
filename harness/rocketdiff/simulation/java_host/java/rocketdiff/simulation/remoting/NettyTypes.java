package rocketdiff.simulation.remoting;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.scheduler.Failure;

/** The Netty types of one release, found by name, since the release's loader has them and ours has not. */
final class NettyTypes {
    final Class<?>[] channel;
    final Class<?>[] promise;
    final Class<?>[] context;
    final Class<?>[] pipeline;
    final Class<?> duplexHandler;
    final Class<?> readHandler;
    final Class<?> idleHandler;
    final Method close;
    final Method active;
    final Method inactive;
    final Method caught;
    final Method userEvent;
    final Method read;
    final Method listener;
    final Method timerTask;
    final Method idleMillis;
    final Object allIdle;
    private final ClassLoader loader;
    private final Class<?>[] channelId;
    private final Constructor<?> attributes;
    private final Method attr;
    private final Method hasAttr;
    private final Field bootstrapHandler;
    private final Field bootstrapOptions;
    private final Object connectTimeout;

    NettyTypes(ClassLoader loader) throws ReflectiveOperationException {
        this.loader = loader;
        channel = only("channel.socket.SocketChannel");
        promise = only("channel.ChannelPromise");
        context = only("channel.ChannelHandlerContext");
        pipeline = only("channel.ChannelPipeline");
        duplexHandler = type("channel.ChannelDuplexHandler");
        readHandler = type("channel.SimpleChannelInboundHandler");
        idleHandler = type("handler.timeout.IdleStateHandler");
        Class<?> inbound = type("channel.ChannelInboundHandler");
        close = type("channel.ChannelOutboundHandler").getMethod("close", context[0], promise[0]);
        active = inbound.getMethod("channelActive", context[0]);
        inactive = inbound.getMethod("channelInactive", context[0]);
        caught = inbound.getMethod("exceptionCaught", context[0], Throwable.class);
        userEvent = inbound.getMethod("userEventTriggered", context[0], Object.class);
        read = inbound.getMethod("channelRead", context[0], Object.class);
        listener = type("util.concurrent.GenericFutureListener").getMethod("operationComplete", type("util.concurrent.Future"));
        timerTask = type("util.TimerTask").getMethod("run", type("util.Timeout"));
        idleMillis = idleHandler.getMethod("getAllIdleTimeInMillis");
        allIdle = type("handler.timeout.IdleStateEvent").getField("ALL_IDLE_STATE_EVENT").get(null);
        Class<?> map = type("util.DefaultAttributeMap");
        attributes = map.getConstructor();
        attr = map.getMethod("attr", type("util.AttributeKey"));
        hasAttr = optional(map, "hasAttr", type("util.AttributeKey"));
        channelId = optional("channel.ChannelId");
        bootstrapHandler = Members.field(type("bootstrap.AbstractBootstrap"), "handler");
        bootstrapOptions = Members.field(type("bootstrap.AbstractBootstrap"), "options");
        connectTimeout = type("channel.ChannelOption").getField("CONNECT_TIMEOUT_MILLIS").get(null);
    }

    Object proxy(Class<?>[] types, InvocationHandler handler) {
        return Proxy.newProxyInstance(loader, types, handler);
    }

    Object attributeMap() throws ReflectiveOperationException {
        return attributes.newInstance();
    }

    /** What the attribute map says to attr or hasAttr. */
    Object attribute(Object map, Method asked, Object key) {
        return call(asked.getName().equals("attr") ? attr : hasAttr, map, key);
    }

    /** A channel id that says the channel's number. */
    Object id(int number) {
        return proxy(channelId, (self, method, arguments) ->
            method.getName().startsWith("as") ? "channel-" + number : Plain.answer(self, method, arguments, "channel-" + number));
    }

    /** The connect timeout that the client has set. */
    long connectTimeoutMs(Object bootstrap) {
        return (Integer) ((Map<?, ?>) Members.get(bootstrapOptions, bootstrap)).get(connectTimeout);
    }

    /** Lets the client's own ChannelInitializer put its handlers into the channel's pipeline. */
    void initialise(Object bootstrap, Object newChannel) throws ReflectiveOperationException {
        Object initializer = bootstrapHandler.get(bootstrap);
        Method init = initializer.getClass().getDeclaredMethod("initChannel", channel[0]);
        init.setAccessible(true);
        call(init, initializer, newChannel);
    }

    /** Calls into the client. An exception that it lets out is not foreseen anywhere and ends the script. */
    static Object call(Method method, Object target, Object... arguments) {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException thrown) {
            throw ended(method, thrown.getCause());
        } catch (IllegalAccessException e) {
            throw new Failure(Failure.HOST, "no access to " + method, e);
        }
    }

    /** Calls a listener; what it throws Netty logs, and goes on. */
    void tell(Object aListener, Object future) {
        try {
            listener.invoke(aListener, future);
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof Error || thrown.getCause() instanceof Failure) {
                throw ended(listener, thrown.getCause());
            }
        } catch (IllegalAccessException e) {
            throw new Failure(Failure.HOST, "no access to " + listener, e);
        }
    }

    private static RuntimeException ended(Method method, Throwable thrown) {
        if (thrown instanceof Error) {
            throw (Error) thrown;
        }
        return thrown instanceof Failure
            ? (Failure) thrown
            : new Failure(Failure.HOST, method.getName() + " threw " + thrown, thrown);
    }

    private Class<?> type(String name) throws ClassNotFoundException {
        return Class.forName("io.netty." + name, true, loader);
    }

    private Class<?>[] only(String name) throws ClassNotFoundException {
        return new Class<?>[] {type(name)};
    }

    /** Netty 4.0 has no channel ids. */
    private Class<?>[] optional(String name) {
        try {
            return only(name);
        } catch (ClassNotFoundException absent) {
            return null;
        }
    }

    /** Netty 4.0 has no hasAttr. */
    private static Method optional(Class<?> owner, String name, Class<?> argument) {
        try {
            return owner.getMethod(name, argument);
        } catch (NoSuchMethodException absent) {
            return null;
        }
    }
}
