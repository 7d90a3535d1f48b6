package rocketdiff.simulation.client;

/** A release's producer as one script drives it; each call is made on the virtual thread that it is made for. */
public interface Client {
    /** Picks a queue with the real strategy: a MessageQueue; what the strategy throws comes out as it is. */
    Object select(String lastBroker, boolean resetIndex) throws Throwable;

    void update(String broker, long latencyMs, boolean isolation, boolean reachable);

    /** Runs the client's own poll of routes now. */
    void pollRoutes();

    /** Sends once; attempts are recorded in the send. Throws what the client throws. */
    void send(Send send) throws Throwable;

    /** One round of heartbeats now. */
    void heartbeat();

    /** The memory that a dump shows. */
    Memory memory();

    /** Open connections by broker name, as a JSON object. */
    String connections();

    /** Ends what must not outlive the script; the world ends right after. */
    void close();
}
