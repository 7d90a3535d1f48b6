package rocketdiff.driver;

/** Where records go; must return at once. */
public interface RecordSink {
    void put(Record record);
}
