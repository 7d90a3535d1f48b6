"""Random brokers and routes."""

from typing import Any

from rocketdiff.simulation.generators.random_source import RandomSource

FAMILIES = (
    ("a", "b", "c", "d", "e", "f", "g", "h"),
    ("broker-a", "broker-b", "broker-c", "broker-d", "broker-e", "broker-10", "broker-2", "broker-1"),
    # The first four have the same Java hash code ("Aa" and "BB" collide), so the fault table keeps them in one bucket.
    ("AaAa", "BBBB", "AaBB", "BBAa", "z", "b", "a", "A"),
    # Java sorts by UTF-16 code unit: punctuation, digits, upper case, underscore, lower case.
    ("Broker-A", "broker-a", "_b", "B", "0", "~", "!", "a-very-long-name-of-a-broker-0123456789"),
    # Some spread hashes share their last bits in tables of 32 buckets, others do not.
    ("n1", "n17", "n33", "n49", "n65", "n9", "n10", "n2"),
)


STRANGER = "elsewhere"
"""A broker that enters the fault table before it is in any route."""


def known_in_the_end(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Append a route with the stranger: the format requires every named broker to be in some route."""
    return [*steps, {"do": "route", "route": {STRANGER: 1}}]


def broker_names(rng: RandomSource, most: int) -> list[str]:
    """Draw one to ``most`` names, in the order of a name server's answer."""
    number = min(most, rng.weighted({1: 10, 2: 30, 3: 22, 4: 14, 5: 9, 6: 6, 7: 4, 8: 5}))
    return rng.some(rng.pick(FAMILIES), number)


def random_route(rng: RandomSource, names: list[str], *, calm: bool = False) -> dict[str, Any]:
    """Draw the queues of each broker; unless calm, some are read-only, write-only, without a master or without queues."""
    equal = rng.pick((1, 2, 3, 4, 4, 4, 8)) if rng.chance(0.4) else None
    route = {
        name: _broker(rng, equal or rng.weighted({1: 3, 2: 3, 3: 4, 4: 4, 5: 2, 6: 2, 8: 1, 16: 1}), calm)
        for name in names
    }
    if not rng.chance(0.02):
        first = names[0]
        route[first] = route[first] if isinstance(route[first], int) else (equal or 4)
    return route


def _broker(rng: RandomSource, queues: int, calm: bool) -> Any:
    if calm or rng.chance(0.8):
        return queues
    kind = rng.weighted({"read-only": 5, "write-only": 2, "no-master": 4, "no-queues": 1})
    if kind == "no-queues":
        return {"queues": 0}
    if kind == "no-master":
        return {"queues": queues, "master": False}
    return {"queues": queues, "perm": 4 if kind == "read-only" else 2}
