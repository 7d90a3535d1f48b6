package rocketdiff.driver.consuming;

/** How a call of the listener ends, the heaviest first: a call with several messages ends with the heaviest. */
enum Outcome {
    THROW("throw"),
    NULL("null"),
    ROLLBACK("rollback"),
    LATER("later"),
    ACK_INDEX("ack-index"),
    COMMIT("commit"),
    SUCCESS("success");

    final String word;

    Outcome(String word) {
        this.word = word;
    }

    static Outcome named(String word) {
        for (Outcome each : values()) {
            if (each.word.equals(word)) {
                return each;
            }
        }
        throw new IllegalArgumentException("expected an outcome of a listener, saw " + word);
    }
}
