"""Real name servers and brokers: topologies, backends, proven readiness, proven faults, and reading of stored messages."""
