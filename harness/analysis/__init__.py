"""From traces to evidence: what both arms did, whether the rules explain it, what the brokers stored; on Spark or without."""
