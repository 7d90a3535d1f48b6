"""From traces to evidence: what both arms did, whether rules explain it, what brokers stored; on Spark or without."""
