package rocketdiff.simulation.consuming;

import java.util.Map;
import rocketdiff.simulation.client.Client;
import rocketdiff.simulation.client.Depth;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Network;

/** Depth `rebalance`. */
public final class RebalanceDepth implements Depth {
    @Override
    public Client open(
        Release release, Scheduler scheduler, Network network, Map<String, Object> settings, boolean lookUpNow) {
        scheduler.consumes = true;
        return new RebalanceClient(release, scheduler, network);
    }
}
