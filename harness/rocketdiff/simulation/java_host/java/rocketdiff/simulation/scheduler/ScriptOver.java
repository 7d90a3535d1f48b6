package rocketdiff.simulation.scheduler;

/** Unwinds a virtual thread whose script has ended or failed; an Error, so that `catch (Exception)` lets it pass. */
public final class ScriptOver extends Error {
    private static final long serialVersionUID = 1;

    ScriptOver() {
        super("the script is over", null, false, false);
    }
}
