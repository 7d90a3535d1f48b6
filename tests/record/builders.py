"""The small run of one case that records and judging are tested with."""

from collections.abc import Callable
from pathlib import Path

from rocketdiff.core.run_info import Guard
from tests.analysis.synthetic import ArmRecords, Pause, Story

CHECKS = ("queue-choice", "attempts", "loss", "duplication")

SCENARIO = """\
format: 1
name: fault-latency/pause-one-of-two
establishes: A producer leaves a paused broker.
covers: [B1]
topology: two-masters
topic: {queues_per_broker: 4}
settings: {send_latency_fault_enable: true, send_msg_timeout_ms: 500}
workload: {mode: sync, threads: 1, rate_per_s: 50, duration_s: 4, body_bytes: 64}
faults:
  - {kind: pause, broker: b, at_s: 1, for_s: 2}
checks: [queue-choice, attempts, loss, duplication]
suites: [full]
"""

STORY = Story(checks=CHECKS, sends=60, pauses=(Pause("broker-b", 300, 600),))

GUARDS = tuple(Guard(name, held=True, expected="so", seen="so", case="c") for name in ("fault-1", "read-back"))

NewRun = Callable[..., Path]


def spoil(arm: ArmRecords) -> None:
    """Two acknowledged messages are lost."""
    arm.stored = [one for one in arm.stored if one.send not in (3, 40)]


def quiet(_: str) -> None:
    """Ignore the message."""
