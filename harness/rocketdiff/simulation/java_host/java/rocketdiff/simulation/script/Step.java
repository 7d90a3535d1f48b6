package rocketdiff.simulation.script;

/** One step of a script, or one entry of a timeline. */
interface Step {
    /** Does it, on the virtual thread that calls. */
    void run(Run run, Place place);

    /** The sender thread whose own doing it is; -1: the environment's. */
    default int thread() {
        return -1;
    }

    /** Whether it may wait, and so needs a thread of its own where the environment does it. */
    default boolean mayWait() {
        return false;
    }

    /** A step that may wait. */
    static Step waiting(Step step) {
        return new Step() {
            @Override
            public void run(Run run, Place place) {
                step.run(run, place);
            }

            @Override
            public boolean mayWait() {
                return true;
            }
        };
    }
}
