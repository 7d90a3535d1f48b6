"""Random scripts at selection depth: updates, selections and waits around the thresholds of every release."""

from typing import Any

from rocketdiff.simulation.generators.random_source import RandomSource
from rocketdiff.simulation.generators.sending.counters import start_indexes, start_value
from rocketdiff.simulation.generators.topics import (
    STRANGER,
    broker_names,
    known_in_the_end,
    random_route,
)

Step = dict[str, Any]

LATENCIES_MS = (
    0, 1, 5, 49, 50, 99, 100, 549, 550, 999, 1_000, 1_799, 1_800, 1_999, 2_000, 2_999, 3_000, 4_999, 5_000, 10_000, 14_999,
    15_000, 30_000, 60_000, 600_000,
)  # fmt: skip
"""Thresholds of both penalty tables, and the latencies that a failure counts as."""

WAITS_MS = (1, 100, 500, 1_000, 2_000, 5_000, 6_000, 10_000, 30_000, 60_000, 120_000, 180_000, 600_000)
"""Avoidance durations of both penalty tables, and others."""


class Selections:
    """Generator of one script; its only state is the brokers and the number of threads."""

    def __init__(self, rng: RandomSource) -> None:
        self.rng = rng
        self.names = broker_names(rng, most=8)
        self.threads = rng.weighted({1: 7, 2: 2, 3: 1})

    def script(self) -> dict[str, Any]:
        rng = self.rng
        route = random_route(rng, self.names)
        start = start_indexes(rng, self.threads)
        settings = {"send_latency_fault_enable": rng.chance(0.8)}
        seed = rng.between(0, 2**31)
        weights = {
            self.select: rng.pick((40, 55, 70)),
            self.update: rng.pick((15, 30, 45)),
            self.all_fail: rng.pick((0, 1, 3)),
            self.advance: rng.pick((4, 12, 20)),
            self.index: rng.pick((0, 2)),
            self.worst_index: rng.pick((0, 2)),
            self.new_route: rng.pick((0, 1, 3)),
            self.dump: 1,
        }
        steps: list[Step] = []
        length = rng.between(100, 250)
        while len(steps) < length:
            steps += rng.weighted(weights)()
        return {"route": route, "settings": settings, **start, "seed": seed, "steps": known_in_the_end(steps)}

    def select(self) -> list[Step]:
        rng = self.rng
        fields: dict[str, Any] = {}
        last = rng.weighted({"none": 40, "known": 55, "stranger": 5})
        if last != "none":
            fields["last_broker"] = rng.pick(self.names) if last == "known" else STRANGER
            if rng.chance(0.4):
                fields["reset_index"] = True
        return [{"do": "select", **self._on_a_thread(fields)} for _ in range(rng.weighted({1: 8, 2: 1, 5: 1}))]

    def update(self) -> list[Step]:
        rng = self.rng
        broker = rng.pick(self.names) if rng.chance(0.93) else STRANGER
        return [self._update(broker, rng.chance(0.35))]

    def all_fail(self) -> list[Step]:
        return [self._update(name, isolation=True) for name in self.rng.some(self.names, len(self.names))]

    def advance(self) -> list[Step]:
        return [{"do": "advance", "ms": self.rng.number(WAITS_MS, 700_000)}]

    def index(self) -> list[Step]:
        return [{"do": "index", **self._on_a_thread({"value": start_value(self.rng)})}]

    def worst_index(self) -> list[Step]:
        return [{"do": "worst_index", **self._on_a_thread({"value": start_value(self.rng)})}]

    def new_route(self) -> list[Step]:
        """Change the route, mostly with a poll; without one, the client does not see it."""
        rng = self.rng
        route = random_route(rng, rng.some(self.names, rng.between(1, len(self.names))))
        steps: list[Step] = [{"do": "route", "route": None if rng.chance(0.05) else route}]
        return [*steps, {"do": "poll_routes"}] if rng.chance(0.9) else steps

    def dump(self) -> list[Step]:
        parts = ["index", "worst_index", "queues", "faults", "clock"]
        return [{"do": "dump", "parts": self.rng.some(parts, self.rng.between(1, len(parts)))}]

    def _update(self, broker: str, isolation: bool) -> Step:
        rng = self.rng
        fields = {"broker": broker, "latency_ms": rng.number(LATENCIES_MS, 20_000), "isolation": isolation}
        if rng.chance(0.3):
            fields["reachable"] = False
        return {"do": "update", **fields}

    def _on_a_thread(self, fields: dict[str, Any]) -> dict[str, Any]:
        thread = self.rng.between(0, self.threads - 1)
        return {**fields, "thread": thread} if thread else fields


def selection_script(rng: RandomSource) -> dict[str, Any]:
    """Generate 100 to 250 steps on a route of one to eight brokers."""
    return Selections(rng).script()
