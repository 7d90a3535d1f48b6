package rocketdiff.simulation.sending;

import rocketdiff.simulation.client.Client;

/** A release's producer as one script drives it; each call is made on the virtual thread that it is made for. */
public interface Producer extends Client {
    /** Picks a queue with the real strategy: a MessageQueue; what the strategy throws comes out as it is. */
    Object select(String lastBroker, boolean resetIndex) throws Throwable;

    void update(String broker, long latencyMs, boolean isolation, boolean reachable);

    /** Sends once; attempts are recorded in the send. Throws what the client throws. */
    void send(Send send) throws Throwable;

    /** What the producer remembers. */
    Memory memory();
}
