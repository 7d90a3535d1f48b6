package rocketdiff.simulation.sending;

import java.util.Map;
import rocketdiff.simulation.client.Client;
import rocketdiff.simulation.client.Depth;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Network;

/** Depth `selection`. */
public final class SelectionDepth implements Depth {
    @Override
    public Client open(
        Release release, Scheduler scheduler, Network network, Map<String, Object> settings, boolean lookUpNow) {
        SelectionClient client = new SelectionClient(release, network, settings);
        client.takeRoute();
        return client;
    }
}
