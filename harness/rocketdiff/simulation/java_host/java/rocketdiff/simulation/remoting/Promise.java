package rocketdiff.simulation.remoting;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import rocketdiff.simulation.scheduler.ApplicationError;
import rocketdiff.simulation.scheduler.Scheduler;

/**
 * A ChannelPromise. Listeners of a connect are called on the network thread, as in Netty: at once if that is where we are, else
 * as a job of it; those of a write or a close at once, wherever we are, since both are over when they return.
 */
final class Promise implements InvocationHandler {
    final Object proxy;
    private final Connection connection;
    private final boolean ofConnect;
    private final List<Object> listeners = new ArrayList<>(2);
    private boolean done;
    private Throwable cause;

    Promise(Connection connection, boolean ofConnect) {
        this.connection = connection;
        this.ofConnect = ofConnect;
        this.proxy = connection.types().proxy(connection.types().promise, this);
    }

    static Promise behind(Object proxy) {
        return (Promise) java.lang.reflect.Proxy.getInvocationHandler(proxy);
    }

    boolean isDone() {
        return done;
    }

    void finish(Throwable failure) {
        if (done) {
            return;
        }
        done = true;
        cause = failure;
        for (int i = 0; i < listeners.size(); i++) {
            tell(listeners.get(i));
        }
        listeners.clear();
        Scheduler.current().poke();
    }

    @Override
    public Object invoke(Object self, Method method, Object[] arguments) {
        switch (method.getName()) {
            case "isDone":
                return done;
            case "isSuccess":
                return done && cause == null;
            case "isCancelled":
                return false;
            case "cause":
                return cause;
            case "channel":
                return connection.channel;
            case "addListener":
                add(arguments[0]);
                return self;
            case "await":
            case "awaitUninterruptibly":
                return awaited(self, arguments);
            default:
                return Plain.answer(self, method, arguments, "future of " + connection);
        }
    }

    private Object awaited(Object self, Object[] arguments) {
        Scheduler scheduler = Scheduler.current();
        if (arguments == null) {
            scheduler.await(() -> done, Scheduler.FOREVER);
            return self;
        }
        long time = (Long) arguments[0];
        long ms = arguments.length == 1 ? time : ((TimeUnit) arguments[1]).toMillis(time);
        return scheduler.await(() -> done, scheduler.nowMs() + ms + scheduler.expiredExtraMs);
    }

    private void add(Object listener) {
        if (done) {
            tell(listener);
        } else {
            listeners.add(listener);
        }
    }

    private void tell(Object listener) {
        NettyThread netty = connection.wire().netty;
        if (!ofConnect || netty.isRunning()) {
            call(listener);
        } else {
            netty.execute(() -> call(listener));
        }
    }

    private void call(Object listener) {
        try {
            connection.types().tell(listener, proxy);
        } catch (ApplicationError swallowed) {
            // As DefaultPromise.notifyListener0 does with whatever a listener throws.
        }
    }
}
