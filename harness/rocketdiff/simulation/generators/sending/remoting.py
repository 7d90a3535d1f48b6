"""Random scripts at remoting depth: asynchronous sends, broken connections, paused brokers, background work."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rocketdiff.simulation.generators.random_source import RandomSource
from rocketdiff.simulation.generators.sending.sends import Fields, Sends
from rocketdiff.simulation.generators.topics import known_in_the_end

WAITS_MS = (1, 20, 100, 1_000, 2_000, 3_000, 5_000, 10_000, 30_000)
INTERVALS_MS = (1_000, 5_000, 30_000)


class Remotings(Sends):
    """20 to 40 steps: each script starts a client with its background work."""

    failures: ClassVar[Mapping[str, int]] = {"timeout": 3, "refused": 2, "reset": 2, "fin": 2}

    def script(self) -> dict[str, Any]:
        rng = self.rng
        beginning = self.beginning()
        beginning["settings"] |= self._settings()
        weights = {
            self.send: 40,
            self.broker: rng.pick((10, 20)),
            self.outage: rng.pick((0, 8, 16)),
            self.timeline: rng.pick((0, 6)),
            self.advance: rng.pick((5, 12)),
            self.new_route: rng.pick((0, 2)),
            self.heartbeat: rng.pick((0, 2)),
            self.dump: 2,
        }
        steps: list[Fields] = []
        length = rng.between(20, 40)
        while len(steps) < length:
            steps += rng.weighted(weights)()
        return {**beginning, "steps": known_in_the_end(steps)}

    def send(self) -> list[Fields]:
        return [{"do": "send", **self.on_a_thread(self.repeated(self._any_send()))}]

    def outage(self) -> list[Fields]:
        """A fault of a broker, which a later step may or may not end."""
        kind = self.rng.weighted({"kill": 3, "restart": 3, "pause": 3, "resume": 3, "close": 2})
        return [{"do": kind, "broker": self.rng.pick(self.names)}]

    def advance(self) -> list[Fields]:
        return [{"do": "advance", "ms": self.rng.number(WAITS_MS, 40_000)}]

    def heartbeat(self) -> list[Fields]:
        return [{"do": "heartbeat"}]

    def timeline(self) -> list[Fields]:
        rng = self.rng
        entries: list[Fields] = []
        for thread in range(rng.between(1, 3)):
            sends = [self._any_send() for _ in range(rng.between(1, 3))]
            entries += [
                {"at_ms": rng.between(0, 5_000), "action": {"do": "send", **send, "thread": thread}} for send in sends
            ]
        for _ in range(rng.between(1, 4)):
            change = self.outage()[0] if rng.chance(0.7) else self.broker()[0]
            entries.append({"at_ms": rng.between(0, 5_000), "action": change})
        return [{"do": "timeline", "entries": sorted(entries, key=lambda entry: entry["at_ms"])}]

    def dump(self) -> list[Fields]:
        parts = ["index", "worst_index", "queues", "faults", "clock", "connections"]
        return [{"do": "dump", "parts": self.rng.some(parts, self.rng.between(1, len(parts)))}]

    def _any_send(self) -> Fields:
        mode = self.rng.weighted({"async": 50, "sync": 38, "oneway": 12})
        if mode == "oneway":
            return self.one_way()
        return {**self.sync(), "mode": mode}

    def _settings(self) -> Fields:
        rng = self.rng
        fields: Fields = {}
        if rng.chance(0.6):
            fields["retry_times_when_send_async_failed"] = rng.between(0, 4)
        if rng.chance(0.2):
            fields["heartbeat_broker_interval_ms"] = rng.pick(INTERVALS_MS)
        if rng.chance(0.2):
            fields["poll_name_server_interval_ms"] = rng.pick(INTERVALS_MS)
        if rng.chance(0.3):
            fields["start_detector_enable"] = True
        if rng.chance(0.15):
            fields["detect_timeout_ms"] = rng.pick((50, 200, 1_000))
        if rng.chance(0.15):
            fields["detect_interval_ms"] = rng.pick((500, 2_000, 5_000))
        return fields


def remoting_script(rng: RandomSource) -> dict[str, Any]:
    """Generate sends of every mode over connections, with background work."""
    return Remotings(rng).script()
