"""Random scenarios from everything the format accepts, its extremes more often than its middle."""

import json
from dataclasses import dataclass
from random import Random

from rocketdiff.core.errors import UsageError
from rocketdiff.core.sends.knowable import Sending, unanswerable
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.checks import asked_for
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.topology import TOPOLOGIES
from rocketdiff.scenario import Scenario, parse

TIMEOUTS_MS = (1, 2, 10, 50, 100, 150, 300, 500, 700, 1_000, 3_000)
RETRIES = (0, 1, 2, 2, 2, 5, 10, 100)
CAPS_MS = (-1, -1, -1, 0, 1, 50, 150, 600)
QUEUES = (1, 2, 3, 4, 4, 5, 16)
THREADS = (1, 1, 1, 2, 3, 8, 64)
INTERVALS_MS = (30_000, 30_000, 600_000, 1_000, 250)
PAUSES_S = (0.05, 0.07, 0.3, 0.6, 1.0, 2.0, 3.5)

WITHOUT_PROXIES = [name for name, topology in TOPOLOGIES.items() if not topology.has_proxies]
"""The laboratory does not simulate proxies."""

MOST_SENDS = 160
"""Judged in a few hundredths of a second; more sends show nothing new."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A scenario, and how many drafts the format refused before it."""

    scenario: Scenario
    refused: int


def drawn(seed: int) -> Drawn:
    """The scenario of a seed, redrawn until the format accepts it."""
    random = Random(f"faithful {seed}")
    for refused in range(1_000):
        text = _text(random)
        try:
            return Drawn(parse(text, f"scenario {seed}"), refused)
        except UsageError:
            continue
    raise AssertionError("the format accepts nothing that is drawn")


def _text(random: Random) -> str:
    topology = random.choice(("two-masters", "two-masters", "three-masters", "one-master", *WITHOUT_PROXIES))
    mode = random.choice(("sync", "sync", "sync", "async", "async", "oneway"))
    call = random.choice(("plain", "plain", "plain", "plain", "queue", "selector", "batch"))
    threads = random.choice(THREADS)
    duration_s = random.choice((2.0, 4.0, 8.0, 14.0))
    latency = random.random() < 0.6
    faults = [_fault(random, topology, duration_s) for _ in range(random.choice((0, 1, 1, 2, 2, 3, 4)))]
    loses = any(fault["kind"] in ("pause", "kill") for fault in faults)
    sending = Sending(SendMode(mode), SendKind(call), latency, loses_a_broker=loses)
    askable = [check for check in asked_for(ClientRole.PRODUCER) if not unanswerable(check, sending)]
    data = {
        "format": 1,
        "name": "faithful/drawn",
        "establishes": "A client that keeps the rules is never said to break them.",
        "topology": topology,
        "topic": {"queues_per_broker": random.choice(QUEUES)},
        "settings": _settings(random, latency=latency),
        "workload": {
            "mode": mode,
            "call": call,
            "threads": threads,
            "rate_per_s": max(
                random.choice((10, 30, 60, MOST_SENDS)) // (max(1, duration_s)), threads / duration_s + 1
            ),
            "duration_s": duration_s,
        },
        "faults": faults,
        "checks": [check for check in askable if random.random() < 0.6] or askable[:1],
    }
    return json.dumps(data)


def _settings(random: Random, *, latency: bool) -> dict[str, object]:
    return {
        "send_latency_fault_enable": latency,
        "send_msg_timeout_ms": random.choice(TIMEOUTS_MS),
        "retry_times_when_send_failed": random.choice(RETRIES),
        "retry_times_when_send_async_failed": random.choice(RETRIES),
        "retry_another_broker_when_not_store_ok": random.random() < 0.3,
        "send_msg_max_timeout_per_request_ms": random.choice(CAPS_MS),
        "poll_name_server_interval_ms": random.choice(INTERVALS_MS),
        "heartbeat_broker_interval_ms": random.choice(INTERVALS_MS),
    }


def _fault(random: Random, topology: str, duration_s: float) -> dict[str, object]:
    nodes = TOPOLOGIES[topology]
    kinds = ["pause"] * 8 + ["kill"] * 3 + ["pause-name-server", "read-only", "flow-control", "flow-control"]
    kinds += ["wire-delay", "wire-swallow", "wire-reset"]
    kinds += ["pause-slave", "kill-slave"] * 2 if nodes.has_slaves else []
    kinds += ["flush-timeout"] * 3 if nodes.waits_for_disk else []
    kind = random.choice(kinds)
    fault: dict[str, object] = {"kind": kind, "at_s": round(random.uniform(0.1, duration_s - 0.1), 3)}
    if kind == "pause-name-server":
        fault["name_server"] = random.randint(1, nodes.name_server_count)
    else:
        fault["broker"] = random.choice(nodes.broker_letters)
    if not (kind.startswith("kill") and random.random() < 0.6):
        fault["for_s"] = random.choice(PAUSES_S)
    if kind.startswith("wire"):
        fault["frames"] = random.choice(("requests", "responses"))
    if kind == "wire-delay":
        fault["delay_ms"] = random.choice((50, 120, 600))
    return fault
