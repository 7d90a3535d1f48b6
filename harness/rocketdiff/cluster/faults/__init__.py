"""Faults, one a file: each is injected, healed, and both are proven by a request that is not answered, or is."""
