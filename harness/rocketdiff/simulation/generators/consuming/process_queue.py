"""Random scripts at depth process-queue: pulls, ends of concurrent calls, and orderly calls of one queue."""

from typing import Any

from rocketdiff.simulation.generators.random_source import RandomSource

_BYTES = (0, 1, 1, 1, 10, 1_000)
_MS = (1, 1_000, 119_999, 120_000, 120_001)
_FAR = 20
"""Offsets that were never put lie within it."""

Step = dict[str, Any]


class Calls:
    """Generator of one script; its only state is the next offset to pull."""

    def __init__(self, rng: RandomSource) -> None:
        self.rng = rng
        self.next = rng.pick((0, 0, 5, 1_000))

    def script(self) -> dict[str, Any]:
        rng = self.rng
        is_orderly = rng.chance(0.5)
        weights = {
            self.put: 5,
            self.remove: 1 if is_orderly else 6,
            self.take: 6 if is_orderly else rng.pick((0, 1)),
            self.commit: 4 if is_orderly else rng.pick((0, 1)),
            self.rollback: 1 if is_orderly else 0,
            self.consume_again: 2 if is_orderly else rng.pick((0, 1)),
            self.idle: 1,
        }
        steps: list[Step] = [self.put()]
        steps += [rng.weighted(weights)() for _ in range(rng.between(20, 60))]
        return {"route": {"a": 1}, "steps": [*steps, {"do": "dump", "parts": ["process"]}]}

    def put(self) -> Step:
        """Usually the next messages; sometimes some again, or out of order, as a repaired offset or another broker gives them."""
        rng = self.rng
        count = rng.weighted({0: 1, 1: 6, 2: 4, 3: 3, 5: 2, 32: 1})
        first = self.next if rng.chance(0.85) else max(0, self.next - rng.between(1, 6))
        step = rng.pick((1, 1, 1, 2, 7))
        offsets = [first + place * step for place in range(count)]
        if offsets:
            self.next = max(self.next, offsets[-1] + 1)
        if rng.chance(0.1):
            offsets = rng.some(offsets, count)
        bytes_ = rng.pick(_BYTES) if rng.chance(0.3) else 4
        return {"do": "put", "offsets": offsets, "bytes": bytes_}

    def remove(self) -> Step:
        return {"do": "remove", "offsets": self._some()}

    def take(self) -> Step:
        return {"do": "take", "count": self.rng.weighted({1: 5, 2: 2, 3: 1, 40: 1})}

    def commit(self) -> Step:
        return {"do": "commit"}

    def rollback(self) -> Step:
        return {"do": "rollback"}

    def consume_again(self) -> Step:
        return {"do": "consume_again", "offsets": self._some()}

    def idle(self) -> Step:
        return self.rng.pick(({"do": "pulled"}, {"do": "advance", "ms": self.rng.number(_MS, 200_000)}))

    def _some(self) -> list[int]:
        low = max(0, self.next - self.rng.between(1, _FAR))
        return self.rng.some(range(low, self.next + self.rng.pick((0, 0, 3))), self.rng.between(1, 4))


def process_queue_script(rng: RandomSource) -> dict[str, Any]:
    """Generate 20 to 60 calls of one queue."""
    return Calls(rng).script()
