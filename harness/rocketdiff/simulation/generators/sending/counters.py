"""Random initial values of a sender's queue counters."""

from typing import Any

from rocketdiff.simulation.generators.random_source import RandomSource

INT_MAX, INT_MIN = 2**31 - 1, -(2**31)


def start_value(rng: RandomSource) -> int:
    """Draw a raw counter value, often near an overflow, where client generations differ."""
    kind = rng.weighted({"small": 4, "overflow": 4, "minimum": 2, "negative": 1, "any": 2})
    if kind == "small":
        return rng.between(0, 50)
    if kind == "overflow":
        return INT_MAX - rng.between(0, 24)
    if kind == "minimum":
        return INT_MIN + rng.between(0, 10)
    if kind == "negative":
        return -rng.between(1, 40)
    return rng.int32()


def start_indexes(rng: RandomSource, threads: int) -> dict[str, Any]:
    """Return the field ``start_index``, or no field, so that the tape decides."""
    if rng.chance(0.3):
        return {}
    values = [start_value(rng) for _ in range(threads)]
    return {"start_index": values[0] if threads == 1 and rng.chance(0.7) else values}
