package rocketdiff.simulation.script;

import rocketdiff.simulation.client.Client;
import rocketdiff.simulation.json.JsonText;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.VirtualThread;

/** The answers of a script, a line each, with the state beside them if it is traced. */
final class Lines {
    final StringBuilder out;
    final boolean traced;
    private final Scheduler scheduler;
    private final String head;

    Lines(StringBuilder out, String script, boolean traced, Scheduler scheduler) {
        this.out = out;
        this.scheduler = scheduler;
        this.traced = traced;
        this.head = "{\"script\": " + JsonText.of(script) + ", ";
    }

    /** Begins a line up to the value of its answer, which the caller appends. */
    StringBuilder begin(Place place, String kind) {
        out.append(head);
        place.append(out);
        return out.append('"').append(kind).append("\": ");
    }

    /** Ends a line; the counters of the state are those of a thread. */
    void end(Client client, VirtualThread thread) {
        if (traced) {
            client.appendState(out.append(", \"state\": "), thread);
        }
        out.append("}\n");
        scheduler.answered();
    }

    /** A line that is there for its state only. */
    void changed(Place place, String kind, Client client, VirtualThread thread) {
        if (traced) {
            begin(place, kind).append("true");
            end(client, thread);
        }
    }
}
