package rocketdiff.simulation.script;

import rocketdiff.simulation.client.Memory;
import rocketdiff.simulation.text.JsonText;
import rocketdiff.simulation.world.VirtualThread;
import rocketdiff.simulation.world.World;

/** The answers of a script, a line each, with the state beside them if it is traced. */
final class Lines {
    final StringBuilder out;
    final boolean traced;
    private final World world;
    private final String head;

    Lines(StringBuilder out, String script, boolean traced, World world) {
        this.out = out;
        this.world = world;
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
    void end(Memory memory, VirtualThread thread) {
        if (traced) {
            out.append(", \"state\": {\"index\": ").append(memory.index(thread));
            out.append(", \"worst_index\": ").append(memory.worstIndex(thread)).append(", \"queues\": ");
            memory.appendQueues(out);
            out.append(", \"faults\": ");
            memory.appendFaults(out);
            out.append('}');
        }
        out.append("}\n");
        world.answered();
    }

    /** A line that is there for its state only. */
    void changed(Place place, String kind, Memory memory, VirtualThread thread) {
        if (traced) {
            begin(place, kind).append("true");
            end(memory, thread);
        }
    }
}
