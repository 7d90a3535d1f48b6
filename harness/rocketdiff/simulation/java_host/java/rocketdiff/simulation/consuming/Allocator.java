package rocketdiff.simulation.consuming;

import rocketdiff.simulation.client.Client;

/** A client whose strategies of allocation a script calls. */
public interface Allocator extends Client {
    /** The share as JSON; what the strategy throws comes out as it is. */
    String share(Allocation asked) throws Throwable;
}
