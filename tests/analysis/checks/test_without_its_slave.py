"""SEND_OK while the slave that the broker waits for is at fault ends the run with exit code 1."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis import synthetic
from tests.analysis.synthetic import MS, ORIGIN_NS, Story, Told
from tests.analysis.verdicts import judged

NewRun = Callable[..., RunDirectory]
FROM_NS, TO_NS = ORIGIN_NS + 1_000 * MS, ORIGIN_NS + 3_000 * MS
SIGNATURE = "outcomes.acknowledged-without-its-slave"
STORY = Story(name="double-write/slave-paused", pauses=())


def a_slave(kind: FaultKind) -> tuple[FaultRecord, ...]:
    """A two-second fault of broker-b's slave."""
    return (FaultRecord(1, kind, "broker-b-slave-1", FROM_NS, FROM_NS, FROM_NS, TO_NS, TO_NS, TO_NS),)


def reserved(told: Told, sends: set[int]) -> None:
    """Answer and return FLUSH_SLAVE_TIMEOUT."""
    told.attempts = [replace(one, status="FLUSH_SLAVE_TIMEOUT") if one.send in sends else one for one in told.attempts]
    told.sends = [replace(one, status="FLUSH_SLAVE_TIMEOUT") if one.send in sends else one for one in told.sends]


def at_the_broker(told: Told) -> list[int]:
    return [
        one.send
        for one in told.attempts
        if one.broker == "broker-b" and one.start_ns >= FROM_NS and one.end_ns <= TO_NS
    ]


@pytest.mark.parametrize("kind", [FaultKind.PAUSE_SLAVE, FaultKind.KILL_SLAVE])
@pytest.mark.parametrize(
    ("topology", "lies", "signatures"),
    [
        ("two-masters-with-slaves-sync", 1, {SIGNATURE}),
        ("two-masters-with-slaves-sync", 0, set()),
        ("two-masters-with-slaves-async", 1, set()),
    ],
)
def test_send_ok_without_the_slave(
    new_run: NewRun,
    monkeypatch: pytest.MonkeyPatch,
    kind: FaultKind,
    topology: str,
    lies: int,
    signatures: set[str],
) -> None:
    """One SEND_OK diverges if the broker waits for its slave; otherwise the slave does not matter."""
    monkeypatch.setattr(synthetic, "faults_of", lambda _story: a_slave(kind))

    def honest(told: Told) -> None:
        reserved(told, set(at_the_broker(told)))

    def lying(told: Told) -> None:
        reserved(told, set(at_the_broker(told)[lies:]))

    run = new_run([STORY], change=lying, change_baseline=honest)
    run.change(1, lambda entry: replace(entry, topology=topology))
    judgement = judged(RunDirectory.open(run.path))
    found = {one.signature for result in judgement.results for one in result.divergences}
    assert found == signatures
    assert (judgement.exit_code is ExitCode.DIVERGES) == bool(signatures)
