package rocketdiff.simulation.consuming;

import java.util.List;

/** A client with one queue's messages, which a script puts, takes and removes by offset. */
public interface Processing extends Allocator {
    /** Whether a call of an orderly listener has to be asked for. */
    Object put(List<?> offsets, int bytes) throws Throwable;

    /** The offset to commit; null: none. */
    Object remove(List<?> offsets) throws Throwable;

    /** The offsets that were taken. */
    Object take(int count) throws Throwable;

    /** The offset to commit. */
    Object commit() throws Throwable;

    void rollback();

    void consumeAgain(List<?> offsets);

    /** An attempt to pull is made now. */
    void pulled();
}
