package rocketdiff.simulation.script;

import rocketdiff.simulation.client.Client;
import rocketdiff.simulation.wire.Network;
import rocketdiff.simulation.world.World;

/** One script being run: what its steps work on. */
final class Run {
    final World world;
    final Network network;
    final Client client;
    final Lines lines;
    final Senders senders;
    final AsyncSends asyncSends = new AsyncSends();

    Run(World world, Network network, Client client, Lines lines) {
        this.world = world;
        this.network = network;
        this.client = client;
        this.lines = lines;
        this.senders = new Senders(world);
    }
}
