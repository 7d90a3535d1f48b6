package rocketdiff.simulation.remoting;

import java.util.Map;
import rocketdiff.simulation.client.Client;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.consuming.GroupBrokers;
import rocketdiff.simulation.consuming.PushClient;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Network;

/** Depth `consumer`: a whole push consumer, with the real NettyRemotingClient; below it the network of the script. */
public final class ConsumerDepth extends RemotingDepth {
    @Override
    public Client open(
        Release release, Scheduler scheduler, Network network, Map<String, Object> settings, boolean lookUpNow) {
        scheduler.remotingIsReal = true;
        scheduler.consumes = true;
        GroupBrokers brokers = new GroupBrokers(release);
        Wire wire = new Wire(types(release), network, new Replies(release, network, brokers));
        brokers.asks = wire::request;
        brokers.onLeave = wire::shut;
        brokers.onReturn = wire::reopen;
        Wire.use(wire);
        return new PushClient(release, scheduler, network, brokers, () -> Wire.use(null));
    }
}
