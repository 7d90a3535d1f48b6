package rocketdiff.simulation.servers;

/** What a server does instead of answering. */
public enum Fault {
    TIMEOUT, REFUSED, RESET, FIN, SILENT
}
