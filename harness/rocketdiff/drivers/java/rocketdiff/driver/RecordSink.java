package rocketdiff.driver;

/** Where records go; must return at once. */
interface RecordSink {
    void put(Record record);
}
