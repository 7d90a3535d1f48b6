package rocketdiff.simulation.stand;

import java.util.Collections;
import java.util.List;
import rocketdiff.simulation.world.Tape;
import rocketdiff.simulation.world.World;

/** Shuffling; only the fault table does it, so the tape is the script's. */
@StandsFor(Collections.class)
public final class ShuffleCalls {
    private ShuffleCalls() {
    }

    public static void shuffle(List<?> items) {
        Tape tape = World.current().tape;
        for (int i = items.size(); i > 1; i--) {
            Collections.swap(items, i - 1, tape.below(i));
        }
    }
}
