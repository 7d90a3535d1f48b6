package rocketdiff.driver;

/** Something the runner is told in one line; written by the writer thread, so it must not change any more. */
public interface Record {
    /** Appends the line, with its end. */
    void write(StringBuilder out);
}
