package rocketdiff.simulation.sending;

import java.util.Map;
import rocketdiff.simulation.client.Client;
import rocketdiff.simulation.client.Depth;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Network;

/** Depth `send-loop`. */
public final class SendLoopDepth implements Depth {
    @Override
    public Client open(
        Release release, Scheduler scheduler, Network network, Map<String, Object> settings, boolean lookUpNow) {
        SendLoopClient client = new SendLoopClient(release, scheduler, network, settings);
        if (lookUpNow && network.route().isKnown) {
            client.takeRoute();
        }
        return client;
    }
}
