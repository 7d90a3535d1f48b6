package rocketdiff.simulation.servers;

/** Who sent a request to a scripted server and hears what becomes of it; of a swallowed one nobody ever hears again. */
public interface Reply {
    /** The server's answer arrives, now. */
    void answered(int code);

    /** Instead of an answer the connection is reset (RESET) or closed (FIN), now. */
    void broken(Fault fault);
}
