package rocketdiff.simulation.script;

import rocketdiff.simulation.client.Client;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.sending.Producer;
import rocketdiff.simulation.servers.Network;

/** One script being run: what its steps work on. */
final class Run {
    final Scheduler scheduler;
    final Network network;
    final Client client;
    final Lines lines;
    final Senders senders;
    final AsyncSends asyncSends = new AsyncSends();

    Run(Scheduler scheduler, Network network, Client client, Lines lines) {
        this.scheduler = scheduler;
        this.network = network;
        this.client = client;
        this.lines = lines;
        this.senders = new Senders(scheduler);
    }

    /** The client as the steps of a producer drive it. */
    Producer producer() {
        return (Producer) client;
    }
}
