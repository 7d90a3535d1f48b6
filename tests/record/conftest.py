"""Small runs and records in a private folder."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.core.run_info import Guard
from rocketdiff.record.commands import add, judge
from rocketdiff.record.ingest import folders_of
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.work import Here
from tests.analysis.synthetic import ArmRecords, Change, Pause, Story, write_run

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


@pytest.fixture
def new_run(tmp_path: Path) -> NewRun:
    """Write a run of one small case; ``change`` modifies the candidate's reports."""

    def written(
        name: str = "run-1", *, change: Change | None = None, folder: str = "runs", candidate: str = "python:5.3.3"
    ) -> Path:
        run = write_run(tmp_path / folder, [STORY], run=name, change=change, candidate=candidate)
        run.change(1, lambda entry: replace(entry, scenario_text=SCENARIO, guards=GUARDS))
        return run.path

    return written


@pytest.fixture
def place(tmp_path: Path) -> RecordPlace:
    return RecordPlace.named(str(tmp_path / "record"))


@pytest.fixture
def recorded(place: RecordPlace) -> Callable[..., RecordPlace]:
    def made(*runs: Path) -> RecordPlace:
        add(place, folders_of(runs), Here())
        judge(place, Here(), print_line=lambda _: None)
        return place

    return made
