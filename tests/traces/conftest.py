"""A small manually built run with two arms, two threads and one pause."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.run_info import Machine
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.manifest import CaseEntry, RunManifest
from rocketdiff.traces.recorder import plan_digest
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import Stored

ORIGIN_NS = 1_000_000_000_000
MACHINE = Machine(system="Linux", processor="x", cores=2, memory_mib=4096, python="3.11", java="17")
PLAN = Plan(
    seed=7,
    threads=2,
    sends=tuple(PlannedSend(n, n % 2, n * 1_000_000, SendKind.PLAIN, n, 128) for n in range(4)),
)
CLOCK = ClockAnchor(ORIGIN_NS, 1_790_000_000_000)
PAUSE = FaultRecord(1, FaultKind.PAUSE, "broker-b", ORIGIN_NS + 1, ORIGIN_NS + 2, ORIGIN_NS + 3)


def line(kind: str, **fields: object) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


def attempt(send: int, number: int = 0, broker: str = "broker-a", **fields: object) -> bytes:
    """An attempt that took 1 ms; it succeeded unless an error is given."""
    start = ORIGIN_NS + send * 1_000_000 + number * 10
    reported = {"send": send, "thread": send % 2, "attempt": number, "broker": broker, "queue_id": 0}
    return line("attempt", **{**reported, "start_ns": start, "end_ns": start + 1_000_000, **fields})


def send(number: int, **fields: object) -> bytes:
    """A send that returned after 1 ms; it succeeded unless an error is given."""
    start = ORIGIN_NS + number * 1_000_000
    reported = {"send": number, "thread": number % 2, "start_ns": start, "end_ns": start + 1_000_000, "route": 1}
    return line("send", **{**reported, "route_after": 1, **fields})


def manifest_of(plan: Plan = PLAN, cases: int = 1) -> RunManifest:
    entries = tuple(
        CaseEntry(
            number=number,
            name=f"round-robin/pause-{number}/java:5.3.3~python:5.3.3",
            scenario=f"round-robin/pause-{number}",
            scenario_text="format: 1\n",
            topology="two-masters",
            queues_per_broker=4,
            settings=ClientSettings(send_msg_timeout_ms=300),
            threads=plan.threads,
            sends_planned=len(plan.sends),
            duration_s=1.0,
            plan_digest=plan_digest(plan),
            checks=("queue-choice",),
        )
        for number in range(1, cases + 1)
    )
    return RunManifest(
        run="20261121-120000-7",
        rocketdiff="0.1.0",
        created_wall_ms=1_790_000_000_000,
        seed=7,
        subjects={Arm.BASELINE: "java:5.3.3", Arm.CANDIDATE: "python:5.3.3"},
        server_release="5.3.3",
        backend="processes",
        suite="quick",
        machine=MACHINE,
        cases=entries,
    )


def record_case(run: RunDirectory, number: int = 1) -> None:
    """Record a case: the candidate retries send 1, and one pause is proven."""
    case = run.case(number)
    case.begin(PLAN, clock=ClockAnchor(ORIGIN_NS - 5, 1_790_000_000_000), origin_ns=ORIGIN_NS)
    for arm in Arm:
        with case.recorder(Member(arm)) as recorder:
            recorder.line(
                line("hello", protocol=1, client="java", version="5.3.3", capabilities=["attempts"], pid=1, clock_ns=1)
            )
            recorder.line(line("route", route=1, at_ns=ORIGIN_NS - 1, queues=[["broker-a", 0], ["broker-b", 0]]))
            for number_of_send in (1, 0, 3, 2):
                if arm is Arm.CANDIDATE and number_of_send == 1:
                    recorder.line(attempt(1, 0, "broker-b", error="RemotingConnectException"))
                    recorder.line(attempt(1, 1, status="SEND_OK"))
                else:
                    recorder.line(attempt(number_of_send, status="SEND_OK"))
                recorder.line(send(number_of_send, status="SEND_OK", broker="broker-a", queue_id=0, queue_offset=9))
            recorder.line(line("done", sends=4))
        case.write_stored(arm, [Stored("broker-b", 0, 0, None), *(Stored("broker-a", 0, n, n) for n in (2, 0, 3, 1))])
    case.write_fault(PAUSE)


@pytest.fixture
def new_run(tmp_path: Path) -> Callable[..., RunDirectory]:
    return lambda cases=1: RunDirectory.create(tmp_path / "runs", manifest_of(cases=cases))


@pytest.fixture
def complete_run(new_run: Callable[..., RunDirectory]) -> RunDirectory:
    run = new_run()
    record_case(run)
    run.case(1).seal()
    run.case(1).complete()
    return run
