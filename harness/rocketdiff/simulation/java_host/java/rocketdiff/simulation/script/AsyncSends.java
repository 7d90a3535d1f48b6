package rocketdiff.simulation.script;

import java.util.ArrayList;
import java.util.List;

/** The async sends of a script, in the order in which they were made. */
final class AsyncSends {
    /** How long a script that has sent async goes on after its last step. */
    static final long DRAIN_MS = 120_000;

    private final List<AsyncSend> sends = new ArrayList<>();

    void add(AsyncSend send) {
        sends.add(send);
    }

    boolean isEmpty() {
        return sends.isEmpty();
    }

    /** Says of each whose callback never came that it did not. */
    void giveUp() {
        for (AsyncSend send : sends) {
            if (!send.isOver()) {
                send.giveUp();
            }
        }
    }
}
