"""Random scripts at send-loop depth: retries, timeouts and error classes of synchronous and one-way sends."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rocketdiff.simulation.generators.random_source import RandomSource
from rocketdiff.simulation.generators.sending.sends import Fields, Sends
from rocketdiff.simulation.generators.topics import known_in_the_end

WAITS_MS = (1, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 180_000, 600_000)
NAME_SERVER_ANSWERS = (0, 1, 20, "timeout", "refused", "SYSTEM_ERROR")


class SendLoops(Sends):
    """40 to 80 steps, with a hundred sends or more."""

    failures: ClassVar[Mapping[str, int]] = {"timeout": 3, "refused": 2, "reset": 2}

    def script(self) -> dict[str, Any]:
        rng = self.rng
        beginning = self.beginning()
        weights = {
            self.send: 40,
            self.broker: rng.pick((15, 30)),
            self.timeline: rng.pick((0, 4)),
            self.advance: rng.pick((4, 10)),
            self.new_route: rng.pick((0, 2)),
            self.name_server: rng.pick((0, 1)),
            self.select: rng.pick((0, 3)),
            self.dump: 1,
        }
        steps: list[Fields] = []
        length = rng.between(40, 80)
        while len(steps) < length:
            steps += rng.weighted(weights)()
        return {**beginning, "steps": known_in_the_end(steps)}

    def send(self) -> list[Fields]:
        send = self.sync() if self.rng.chance(0.85) else self.one_way()
        return [{"do": "send", **self.on_a_thread(self.repeated(send))}]

    def advance(self) -> list[Fields]:
        return [{"do": "advance", "ms": self.rng.number(WAITS_MS, 100_000)}]

    def select(self) -> list[Fields]:
        """A selection, which moves the same counters as a send."""
        last = {"last_broker": self.rng.pick(self.names)} if self.rng.chance(0.5) else {}
        return [{"do": "select", **self.on_a_thread(last)}]

    def name_server(self) -> list[Fields]:
        return [{"do": "name_server", "answer": self.rng.pick(NAME_SERVER_ANSWERS)}]

    def timeline(self) -> list[Fields]:
        """Concurrent senders that share a publish list and a fault table, while brokers change."""
        rng = self.rng
        entries: list[Fields] = []
        for thread in range(rng.between(1, 3)):
            for _ in range(rng.between(1, 4)):
                send = self.repeated(self.sync())
                entries.append({"at_ms": rng.between(0, 6_000), "action": {"do": "send", **send, "thread": thread}})
        entries += [{"at_ms": rng.between(0, 6_000), "action": self.broker()[0]} for _ in range(rng.between(0, 3))]
        return [{"do": "timeline", "entries": sorted(entries, key=lambda entry: entry["at_ms"])}]


def send_loop_script(rng: RandomSource) -> dict[str, Any]:
    """Generate synchronous and one-way sends through the producer's public API."""
    return SendLoops(rng).script()
