package rocketdiff.simulation.client;

import java.util.Map;
import rocketdiff.simulation.wire.Network;
import rocketdiff.simulation.world.World;

/** Depth `selection`. */
public final class SelectionDepth implements Depth {
    @Override
    public Client open(
        Release release, World world, Network network, Map<String, Object> settings, boolean lookUpNow) {
        SelectionClient client = new SelectionClient(release, network, settings);
        client.takeRoute();
        return client;
    }
}
