package rocketdiff.simulation.stand;

import rocketdiff.simulation.world.World;

/** Asked by constructors that rewritten code ends early. */
public final class Reduced {
    private Reduced() {
    }

    /** Whether the script needs no real NettyRemotingClient: its constructor then stops after its superclass's. */
    public static boolean remoting() {
        return !World.current().remotingIsReal;
    }
}
