package rocketdiff.simulation.client;

import java.util.Map;
import rocketdiff.simulation.wire.Network;
import rocketdiff.simulation.world.World;

/** Depth `send-loop`. */
public final class SendLoopDepth implements Depth {
    @Override
    public Client open(
        Release release, World world, Network network, Map<String, Object> settings, boolean lookUpNow) {
        SendLoopClient client = new SendLoopClient(release, world, network, settings);
        if (lookUpNow && network.route().isKnown) {
            client.takeRoute();
        }
        return client;
    }
}
