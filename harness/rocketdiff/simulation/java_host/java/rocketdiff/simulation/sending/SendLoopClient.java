package rocketdiff.simulation.sending;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Network;

/**
 * The real producer from its public interface down to MQClientAPIImpl, below which a scripted RemotingClient answers.
 *
 * <p>It is not started but made to look so: no thread of the client runs.
 */
public class SendLoopClient extends SelectionClient {
    protected final Scheduler scheduler;
    protected final Object factory;
    protected final Attempts attempts;
    private final Map<?, ?> publishTable;

    public SendLoopClient(Release release, Scheduler scheduler, Network network, Map<String, Object> settings) {
        super(release, network, settings);
        this.scheduler = scheduler;
        this.attempts = new Attempts(release.protocol(), network, scheduler);
        this.publishTable = (Map<?, ?>) Members.get(producerImpl, "topicPublishInfoTable");
        this.factory = openFactory();
    }

    /** The MQClientInstance, with the producer in it. */
    protected Object openFactory() {
        Object config = Members.must(Members.method(classes.producer, "cloneClientConfig", 0), producer);
        Class<?> type = release.type("client.impl.factory.MQClientInstance");
        Class<?>[] parameters = {release.type("client.ClientConfig"), int.class, String.class};
        Object made = Members.make(type, parameters, config, 0, "simulation");
        Object api = Members.get(made, "mQClientAPIImpl");
        Class<?> remoting = release.type("remoting.RemotingClient");
        Members.set(api, "remotingClient", Proxy.newProxyInstance(release.loader, new Class<?>[] {remoting},
            new ScriptedRemoting(release.protocol(), network, scheduler, attempts)));
        Members.must(Members.method(type, "registerProducer", 2), made, GROUP, producerImpl);
        Members.set(producerImpl, "mQClientFactory", made);
        Method setState = Members.method(producerImpl.getClass(), "setServiceState", 1);
        Members.must(setState, producerImpl, running(setState.getParameterTypes()[0]));
        return made;
    }

    private static Object running(Class<?> serviceState) {
        for (Object state : serviceState.getEnumConstants()) {
            if (state.toString().equals("RUNNING")) {
                return state;
            }
        }
        throw new IllegalStateException("no state RUNNING in " + serviceState);
    }

    @Override
    protected Object publishInfo() {
        Object published = publishTable.get(TOPIC);
        return published == null ? super.publishInfo() : published;
    }

    @Override
    protected void takeRoute() {
        Method update = Members.method(factory.getClass(), "updateTopicRouteInfoFromNameServer", String.class);
        Members.must(update, factory, TOPIC);
    }

    @Override
    public void pollRoutes() {
        Method poll = Members.method(factory.getClass(), "updateTopicRouteInfoFromNameServer", 0);
        try {
            Members.call(poll, factory);
        } catch (Failure | Error hostEnds) {
            throw hostEnds;
        } catch (Throwable logged) {
            // The client's scheduled task logs whatever it is.
            return;
        }
    }

    @Override
    public void send(Send send) throws Throwable {
        send.result = release.view(SendCalls.class, SendCalls::new).call(producer, send, attempts.mark(send));
    }
}
