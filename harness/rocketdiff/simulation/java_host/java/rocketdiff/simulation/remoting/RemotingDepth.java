package rocketdiff.simulation.remoting;

import java.util.HashMap;
import java.util.Map;
import rocketdiff.simulation.client.Client;
import rocketdiff.simulation.client.Depth;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.scheduler.Failure;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Network;

/** Depth `remoting`: the whole client, started, with the real NettyRemotingClient; below it the network of the script. */
public class RemotingDepth implements Depth {
    private static final String DETECTOR = "LatencyFaultToleranceScheduledThread";

    private final Map<Release, NettyTypes> types = new HashMap<>();

    @Override
    public Client open(
        Release release, Scheduler scheduler, Network network, Map<String, Object> settings, boolean lookUpNow) {
        scheduler.remotingIsReal = true;
        if (!Boolean.TRUE.equals(settings.get("start_detector_enable"))) {
            scheduler.briefPools.add(DETECTOR);
        }
        Wire.use(new Wire(types(release), network, new Replies(release, network, null)));
        RemotingClient client = new RemotingClient(release, scheduler, network, settings);
        if (lookUpNow && network.route().isKnown) {
            client.lookUp();
        }
        return client;
    }

    final NettyTypes types(Release release) {
        return types.computeIfAbsent(release, any -> {
            try {
                return new NettyTypes(release.loader);
            } catch (ReflectiveOperationException e) {
                throw new Failure(Failure.HOST, "Netty of " + release.name + " is not as expected: " + e, e);
            }
        });
    }
}
