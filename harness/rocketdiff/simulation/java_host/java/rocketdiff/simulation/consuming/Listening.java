package rocketdiff.simulation.consuming;

import java.util.List;

/** How the listener of a script ends its calls: the messages that a row names fail as often as it says. */
public final class Listening {
    private final List<long[]> rows;
    /** Whether the member subscribes also to a topic that no name server knows. */
    final boolean hasUnknownTopic;

    /** rows: of every so many offsets, the one with this remainder, so many times. */
    public Listening(List<long[]> rows, boolean hasUnknownTopic) {
        this.rows = rows;
        this.hasUnknownTopic = hasUnknownTopic;
    }

    boolean fails(long offset, int times) {
        for (long[] row : rows) {
            if (offset % row[0] == row[1] && times < row[2]) {
                return true;
            }
        }
        return false;
    }
}
