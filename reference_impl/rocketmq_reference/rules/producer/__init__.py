"""How a producer sends: attempts, retries, ends."""
