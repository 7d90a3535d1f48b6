package rocketdiff.simulation.consuming;

/** A member of a group whose rounds and pulls run. */
public interface Member extends Processing {
    /** What its brokers know and were asked. */
    Group brokers();

    /** Asks for a round, as a broker's notification does. */
    void wake();

    /** The next offset of a queue, after its messages were consumed. */
    void consumed(String broker, int queueId, long offset);
}
