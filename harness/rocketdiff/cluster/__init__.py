"""Real name servers and brokers: shapes, backends, readiness by proof, faults with proof, reading what was stored."""
