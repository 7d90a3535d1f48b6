"""Random scripts at depth rebalance: a member of a group that changes while offsets are known, consumed and lost."""

from typing import Any

from rocketdiff.simulation.generators.random_source import RandomSource
from rocketdiff.simulation.generators.topics import broker_names, random_route

_OTHERS = ("A", "a", "c1", "c10", "c2", "zz", "own ", "~")
"""Ids before and after the member's own."""

_OWN = "own"
_MS = (0, 1, 499, 500, 999, 1_000, 1_001, 1_500, 5_000, 19_999, 20_000, 20_500, 41_000)
_MOST_QUEUE_ID = 3

Step = dict[str, Any]


class Changes:
    """Generator of one script; its only state is the brokers."""

    def __init__(self, rng: RandomSource) -> None:
        self.rng = rng
        self.names = broker_names(rng, most=3)

    def script(self) -> dict[str, Any]:
        rng = self.rng
        route = random_route(rng, self.names, calm=True)
        weights = {
            self.members: 4,
            self.wake: 4,
            self.offset: 2,
            self.consumed: 3,
            self.route: rng.pick((0, 1)),
            self.dump: 1,
        }
        steps = [*self.members(), *self.offset()]
        for _ in range(rng.between(8, 20)):
            for _ in range(rng.between(0, 3)):
                steps += rng.weighted(weights)()
            steps.append({"do": "rounds", "ms": rng.number(_MS, 45_000)})
        return {"route": route, "seed": rng.between(0, 2**31), "steps": steps}

    def members(self) -> list[Step]:
        rng = self.rng
        if rng.chance(0.08):
            return [{"do": "members", "ids": rng.pick((None, []))}]
        ids = rng.some(_OTHERS, rng.between(0, 4))
        ids += [_OWN] if rng.chance(0.93) else []
        ids += [rng.pick(ids) for _ in range(rng.between(1, 3))] if ids and rng.chance(0.25) else []
        return [{"do": "members", "ids": rng.some(ids, len(ids))}]

    def wake(self) -> list[Step]:
        return [{"do": "wake"}]

    def offset(self) -> list[Step]:
        offset = None if self.rng.chance(0.2) else self.rng.between(0, 20)
        return [{"do": "offset", **self._queue(), "offset": offset}]

    def consumed(self) -> list[Step]:
        return [{"do": "consumed", **self._queue(), "offset": self.rng.between(0, 40)}]

    def route(self) -> list[Step]:
        """Change the numbers of queues, of the same brokers."""
        return [{"do": "route", "route": random_route(self.rng, self.names, calm=True)}, {"do": "poll_routes"}]

    def dump(self) -> list[Step]:
        return [{"do": "dump", "parts": ["owned"]}]

    def _queue(self) -> Step:
        return {"broker": self.rng.pick(self.names), "queue": self.rng.between(0, _MOST_QUEUE_ID)}


def rebalance_script(rng: RandomSource) -> dict[str, Any]:
    """Generate 8 to 20 stretches of time on a route of one to three brokers."""
    return Changes(rng).script()
