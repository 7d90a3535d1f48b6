package rocketdiff.simulation.client;

import java.util.Map;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.servers.Network;

/** How much of a client is real. */
public interface Depth {
    /**
     * A fresh client for one script, in the scheduler that has just been entered, at 0 ms and before the tape is seeded.
     *
     * @param lookUpNow whether the client learns the route of the topic here, at no cost
     */
    Client open(Release release, Scheduler scheduler, Network network, Map<String, Object> settings, boolean lookUpNow);
}
