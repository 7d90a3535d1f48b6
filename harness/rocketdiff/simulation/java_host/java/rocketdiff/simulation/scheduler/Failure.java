package rocketdiff.simulation.scheduler;

/** Why a script could not be run to its end: the kind and message of the protocol's error. */
public final class Failure extends RuntimeException {
    public static final String SCRIPT = "script";
    public static final String UNTREATED = "untreated";
    public static final String ENDLESS = "endless";
    public static final String HOST = "host";

    private static final long serialVersionUID = 1;

    public final String kind;

    public Failure(String kind, String message) {
        super(message);
        this.kind = kind;
    }

    public Failure(String kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }
}
