package rocketdiff.simulation.standins;

import rocketdiff.simulation.scheduler.Scheduler;

/** Asked by constructors that rewritten code ends early. */
public final class Reduced {
    private Reduced() {
    }

    /** Whether the script needs no real NettyRemotingClient: its constructor then stops after its superclass's. */
    public static boolean remoting() {
        return !Scheduler.current().remotingIsReal;
    }
}
