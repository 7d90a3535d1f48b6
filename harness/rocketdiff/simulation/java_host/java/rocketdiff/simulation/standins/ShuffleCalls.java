package rocketdiff.simulation.standins;

import java.util.Collections;
import java.util.List;
import rocketdiff.simulation.scheduler.Scheduler;
import rocketdiff.simulation.scheduler.Tape;

/** Shuffling; only the fault table does it, so the tape is the script's. */
@StandsFor(Collections.class)
public final class ShuffleCalls {
    private ShuffleCalls() {
    }

    public static void shuffle(List<?> items) {
        Tape tape = Scheduler.current().tape;
        for (int i = items.size(); i > 1; i--) {
            Collections.swap(items, i - 1, tape.below(i));
        }
    }
}
