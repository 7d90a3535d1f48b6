package rocketdiff.simulation.remoting;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;

/**
 * A channel's pipeline and, since they differ in nothing that the client can see, the context of each of its handlers. Only the
 * client's own two handlers are called: the codecs of Netty have nothing to do where commands are handed over as objects.
 */
final class Pipeline implements InvocationHandler {
    final Object proxy;
    private final Connection connection;
    private final NettyTypes types;
    private final Object context;
    private Object manager;
    private Object reader;
    private long idleMs;
    private boolean gone;

    Pipeline(Connection connection) {
        this.connection = connection;
        this.types = connection.types();
        this.proxy = types.proxy(types.pipeline, this);
        this.context = types.proxy(types.context, this);
    }

    boolean isGone() {
        return gone;
    }

    void remove() {
        gone = true;
    }

    /** 0: a channel that is never idle. */
    long idleMs() {
        return idleMs;
    }

    void close(Promise closed) {
        NettyTypes.call(types.close, manager, context, closed.proxy);
    }

    void active() {
        NettyTypes.call(types.active, manager, context);
    }

    void inactive() {
        NettyTypes.call(types.inactive, manager, context);
    }

    void caught(Throwable cause) {
        NettyTypes.call(types.caught, manager, context, cause);
    }

    void idle() {
        NettyTypes.call(types.userEvent, manager, context, types.allIdle);
    }

    void read(Object command) {
        NettyTypes.call(types.read, reader, context, command);
    }

    @Override
    public Object invoke(Object self, Method method, Object[] arguments) {
        switch (method.getName()) {
            case "addLast":
                for (Object handler : (Object[]) arguments[arguments.length - 1]) {
                    add(handler);
                }
                return self;
            case "channel":
                return connection.channel;
            case "close":
                connection.shut(Promise.behind(arguments[0]));
                return arguments[0];
            case "fireChannelActive":
            case "fireChannelInactive":
            case "fireUserEventTriggered":
                return self;
            case "writeAndFlush":
                return connection.write(arguments[0]);
            default:
                return Plain.answer(self, method, arguments, "pipeline of " + connection);
        }
    }

    private void add(Object handler) {
        if (types.idleHandler.isInstance(handler)) {
            idleMs = (Long) NettyTypes.call(types.idleMillis, handler);
        } else if (types.readHandler.isInstance(handler)) {
            reader = handler;
        } else if (types.duplexHandler.isInstance(handler)) {
            manager = handler;
        }
    }
}
