package rocketdiff.simulation.consuming;

import java.util.Map;
import rocketdiff.simulation.client.Client;
import rocketdiff.simulation.client.Depth;
import rocketdiff.simulation.client.Release;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Network;

/** Depth `process-queue`. */
public final class ProcessQueueDepth implements Depth {
    @Override
    public Client open(
        Release release, Scheduler scheduler, Network network, Map<String, Object> settings, boolean lookUpNow) {
        return new ProcessQueueClient(release, scheduler, network);
    }
}
