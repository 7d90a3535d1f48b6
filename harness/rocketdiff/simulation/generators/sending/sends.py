"""Settings, answers and sends shared by the random scripts of the two sending depths."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rocketdiff.simulation.generators.random_source import RandomSource
from rocketdiff.simulation.generators.sending.counters import start_indexes
from rocketdiff.simulation.generators.topics import STRANGER, broker_names, random_route

Fields = dict[str, Any]

LATENCIES_MS = (0, 1, 5, 50, 100, 101, 550, 1_000, 1_800, 2_000, 3_000, 5_000, 15_000)
TIMEOUTS_MS = (10, 100, 500, 1_000, 3_000, 3_000, 5_000)
STATUSES = ("FLUSH_DISK_TIMEOUT", "FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE")
CODES = (
    "SYSTEM_ERROR",
    "SYSTEM_BUSY",
    "TOPIC_NOT_EXIST",
    "SERVICE_NOT_AVAILABLE",
    "NO_PERMISSION",
    "204",
    "205",
    "13",
    "29",
    "208",
)
ADDED_CODES = (2, 13, 29, 208)
CAPS_MS = (0, 1, 50, 500, 1_000, 2_999, 3_000)


def random_settings(rng: RandomSource) -> Fields:
    """Draw client settings; each is sometimes left at its default."""
    chosen: Fields = {
        "send_latency_fault_enable": rng.chance(0.6),
        "send_msg_timeout_ms": rng.pick(TIMEOUTS_MS),
        "retry_times_when_send_failed": rng.between(0, 5),
        "retry_another_broker_when_not_store_ok": rng.chance(0.5),
    }
    fields = {name: value for name, value in chosen.items() if rng.chance(0.8)}
    if rng.chance(0.25):
        fields["send_msg_max_timeout_per_request_ms"] = rng.pick(CAPS_MS)
    if rng.chance(0.25):
        fields["added_retry_response_codes"] = sorted(rng.some(ADDED_CODES, rng.between(1, 2)))
    if rng.chance(0.1):
        fields["start_detector_enable"] = True
    if rng.chance(0.15):
        fields["vip_channel_enabled"] = rng.chance(0.5)
    return fields


class Sends:
    """Generator base of the two sending depths."""

    failures: ClassVar[Mapping[str, int]]
    """The faults of requests at this depth, with weights."""

    def __init__(self, rng: RandomSource) -> None:
        self.rng = rng
        self.names = broker_names(rng, most=5)
        self.threads = rng.weighted({1: 6, 2: 3, 3: 2})
        self.route = random_route(rng, self.names, calm=rng.chance(0.7))

    def beginning(self) -> Fields:
        rng = self.rng
        fields: Fields = {"route": self.route, "settings": random_settings(rng), **start_indexes(rng, self.threads)}
        fields["seed"] = rng.between(0, 2**31)
        if rng.chance(0.5):
            fields["expired_wait_extra_ms"] = 1
        if rng.chance(0.2):
            fields["lookup"] = "at-first-send"
        return fields

    def answer(self) -> Any:
        rng = self.rng
        kind = rng.weighted({"latency": 4, "status": 2, "code": 3, "slow-status": 1, "slow-code": 1, **self.failures})
        if kind == "latency":
            return rng.number(LATENCIES_MS, 6_000)
        if kind == "status":
            return rng.pick(STATUSES)
        if kind == "code":
            return rng.pick(CODES)
        if kind == "slow-status":
            return {"latency_ms": rng.number(LATENCIES_MS, 4_000), "status": rng.pick(STATUSES)}
        if kind == "slow-code":
            return {"latency_ms": rng.number(LATENCIES_MS, 4_000), "code": rng.pick(CODES)}
        return kind

    def broker(self) -> list[Fields]:
        """New answers for a broker: often successes, so that not every send fails."""
        rng = self.rng
        answers: Any = rng.pick((0, 1, 7)) if rng.chance(0.3) else self.answer()
        if rng.chance(0.3):
            answers = [self.answer() for _ in range(rng.between(2, 5))]
        return [{"do": "broker", "name": rng.pick(self.names), "answers": answers}]

    def new_route(self) -> list[Fields]:
        rng = self.rng
        route = random_route(rng, rng.some(self.names, rng.between(1, len(self.names))), calm=rng.chance(0.7))
        steps: list[Fields] = [{"do": "route", "route": None if rng.chance(0.1) else route}]
        return [*steps, {"do": "poll_routes"}] if rng.chance(0.7) else steps

    def sync(self) -> Fields:
        rng = self.rng
        fields: Fields = {"mode": "sync"}
        if rng.chance(0.25):
            fields["timeout_ms"] = rng.number(TIMEOUTS_MS, 4_000)
        form = rng.weighted({"plain": 70, "queue": 15, "selector": 15})
        if form == "queue":
            fields["queue"] = self._queue()
        elif form == "selector":
            fields["selector"] = rng.between(0, 20)
        return fields

    def one_way(self) -> Fields:
        fields = self.sync()
        fields["mode"] = "oneway"
        fields.pop("timeout_ms", None)
        return fields

    def repeated(self, send: Fields) -> Fields:
        """Repeat the send in half of the cases, sometimes with an interval."""
        rng = self.rng
        if rng.chance(0.5):
            send["count"] = rng.between(2, 6)
            if rng.chance(0.3):
                send["every_ms"] = rng.pick((1, 20, 100, 1_000, 3_000))
        return send

    def on_a_thread(self, send: Fields) -> Fields:
        thread = self.rng.between(0, self.threads - 1)
        return {**send, "thread": thread} if thread else send

    def dump(self) -> list[Fields]:
        parts = ["index", "worst_index", "queues", "faults", "clock"]
        return [{"do": "dump", "parts": self.rng.some(parts, self.rng.between(1, len(parts)))}]

    def _queue(self) -> Fields:
        name = self.rng.pick(self.names) if self.rng.chance(0.95) else STRANGER
        return {"broker": name, "queue_id": self.rng.between(0, 5)}
