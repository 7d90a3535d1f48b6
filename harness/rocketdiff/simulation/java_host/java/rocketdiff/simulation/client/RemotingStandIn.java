package rocketdiff.simulation.client;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.util.Collections;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Network;

/** Stands for the whole RemotingClient, the same for every release; subclasses answer its requests. */
public abstract class RemotingStandIn implements InvocationHandler {
    protected final Protocol protocol;
    protected final Network network;
    protected final Scheduler scheduler;

    protected RemotingStandIn(Protocol protocol, Network network, Scheduler scheduler) {
        this.protocol = protocol;
        this.network = network;
        this.scheduler = scheduler;
    }

    /** What a call returns that is no request. */
    protected final Object answerOf(Object proxy, Method method, Object[] arguments) {
        switch (method.getName()) {
            case "getNameServerAddressList":
            case "getAvailableNameSrvList":
                return Collections.singletonList(network.nameServer.address);
            case "hashCode":
                return System.identityHashCode(proxy);
            case "equals":
                return proxy == arguments[0];
            case "toString":
                return getClass().getSimpleName();
            default:
                return method.getReturnType() == boolean.class ? Boolean.TRUE : null;
        }
    }

    /** Ends the script: what the client would take for an exception of its remoting is a mistake of ours. */
    protected final RuntimeException fail(RuntimeException bug) {
        scheduler.fail(bug instanceof Failure ? (Failure) bug : new Failure(Failure.HOST, bug.toString(), bug));
        return bug;
    }
}
