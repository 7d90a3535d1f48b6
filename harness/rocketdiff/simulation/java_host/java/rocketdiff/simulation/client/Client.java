package rocketdiff.simulation.client;

import rocketdiff.simulation.scheduler.VirtualThread;
import rocketdiff.simulation.standins.CounterLocal;

/** What a script does with a release's client whatever its role; each call is made on the virtual thread it is made for. */
public interface Client {
    /** Runs the client's own poll of routes now. */
    void pollRoutes();

    /** One round of heartbeats now. */
    void heartbeat();

    /** The state beside a traced line, as a JSON object; counters are those of the thread. */
    void appendState(StringBuilder out, VirtualThread thread);

    /** A part of the state that only this role has, as JSON; counters are those of the thread. */
    void appendPart(StringBuilder out, String part, VirtualThread thread);

    /** The counter that a script's start_index begins; null: the role has none. */
    CounterLocal indexCounter();

    /** Open connections by broker name, as a JSON object. */
    String connections();

    /** Ends what must not outlive the script; the scheduler ends right after. */
    void close();
}
