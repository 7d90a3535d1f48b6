package rocketdiff.simulation.scheduler;

/** What an application's hook throws when a script says so: it may end a thread of the client, which is an answer. */
public final class ApplicationError extends Error {
    private static final long serialVersionUID = 1;

    public ApplicationError(String message) {
        super(message);
    }
}
