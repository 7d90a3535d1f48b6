package rocketdiff.simulation.remoting;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.stream.Collectors;
import rocketdiff.simulation.client.Members;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.client.Statics;
import rocketdiff.simulation.json.JsonText;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.sending.SendLoopClient;
import rocketdiff.simulation.servers.Network;

/** A producer that was started as any application starts it. */
final class RemotingClient extends SendLoopClient {
    RemotingClient(Release release, Scheduler scheduler, Network network, Map<String, Object> settings) {
        super(release, scheduler, network, settings);
    }

    @Override
    protected Object openFactory() {
        Members.must(Members.method(producer.getClass(), "setNamesrvAddr", String.class), producer, network.nameServer.address);
        // There are no consumers whose offsets could be stored every 5 s.
        Members.must(Members.method(producer.getClass(), "setPersistConsumerOffsetInterval", int.class),
            producer, Integer.MAX_VALUE);
        Members.must(Members.method(producer.getClass(), "start", 0), producer);
        Object made = Members.get(producerImpl, "mQClientFactory");
        Object api = Members.get(made, "mQClientAPIImpl");
        Object real = Members.get(api, "remotingClient");
        Class<?> type = release.type("remoting.RemotingClient");
        Members.set(api, "remotingClient",
            Proxy.newProxyInstance(release.loader, new Class<?>[] {type}, new AttemptRecorder(real, release, attempts)));
        return made;
    }

    /** The route of the topic is learnt at once. */
    void lookUp() {
        takeRoute();
    }

    @Override
    public void pollRoutes() {
        onScheduled("updateTopicRouteInfoFromNameServer");
    }

    /** The client's own round begins by forgetting the brokers that no route names any more. */
    @Override
    public void heartbeat() {
        onScheduled("cleanOfflineBroker", "sendHeartbeatToAllBrokerWithLock");
    }

    /** Has the client's scheduling thread do something now, and waits until it is over; what it throws, the client logs. */
    private void onScheduled(String... names) {
        boolean[] over = new boolean[1];
        ((ExecutorService) Members.get(factory, "scheduledExecutorService")).execute(() -> {
            try {
                for (String name : names) {
                    Members.must(Members.method(factory.getClass(), name, 0), factory);
                }
            } finally {
                over[0] = true;
            }
        });
        scheduler.await(() -> over[0], Scheduler.FOREVER);
    }

    @Override
    public String connections() {
        return Wire.current().connected().entrySet().stream()
            .map(entry -> JsonText.of(entry.getKey()) + ": " + entry.getValue())
            .collect(Collectors.joining(", ", "{", "}"));
    }

    @Override
    public void close() {
        Statics.forgetClients(release);
        Wire.use(null);
    }
}
