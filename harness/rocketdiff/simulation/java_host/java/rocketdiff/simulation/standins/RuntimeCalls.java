package rocketdiff.simulation.standins;

/** The machine: the same everywhere. */
@StandsFor(Runtime.class)
public final class RuntimeCalls {
    private RuntimeCalls() {
    }

    public static int availableProcessors(Runtime runtime) {
        return 4;
    }

    public static void addShutdownHook(Runtime runtime, Thread hook) {
        // The machine never shuts down within a script.
    }

    public static boolean removeShutdownHook(Runtime runtime, Thread hook) {
        return true;
    }
}
