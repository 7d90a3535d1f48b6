"""Whole synthetic runs beside a relay: a client that hides requests or statuses from its hook is found."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.arm import CANDIDATE
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.run_info import Guard
from rocketdiff.protocol.records import encode_record
from rocketdiff.relay.remoting.cross_check import disagreements, unreported_attempts
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import RunJudgement
from tests.analysis.stories import ASYNC, BESIDE_A_PAUSE, CALM
from tests.analysis.synthetic import ArmRecords
from tests.analysis.synthetic_modes import ModeStory
from tests.analysis.verdicts import judged

NewRun = Callable[..., RunDirectory]
Hides = Callable[[Attempt], bool]

HIDDEN = "protocol.attempt-not-told"
RESERVED = "FLUSH_DISK_TIMEOUT"


def witnessed(run: RunDirectory, attempts: list[Attempt]) -> RunDirectory:
    """Seal again with what a relay saw of the candidate."""
    case = run.case(1)
    with case.witnessed(CANDIDATE) as recorder:
        for attempt in attempts:
            recorder.line(encode_record(attempt))
    case.seal()
    return RunDirectory.open(run.path)


def run_beside_a_relay(new_run: NewRun, story: ModeStory, release: str, hides: Hides) -> tuple[RunJudgement, int]:
    """
    The verdict on a candidate that hides attempts, recorded as in ``run/case/sending/wire_witness.py``, and the number of certain ones.
    """
    hidden: list[Attempt] = []
    against: list[str] = []

    def hide(records: ArmRecords) -> None:
        seen = [replace(attempt, start_ns=attempt.start_ns + 1) for attempt in records.attempts]
        records.attempts = [attempt for attempt in records.attempts if not hides(attempt)]
        hidden.extend(unreported_attempts(records.attempts, seen, records.sends))
        against.extend(disagreements(records.attempts, seen, {}, 500_000_000))

    run = new_run([story], baseline=f"java:{release}", candidate=f"python:{release}", change=hide)
    run = witnessed(run, hidden) if hidden else run
    if against:
        guard = Guard("witness-candidate", held=False, expected="one story", seen=against[0], case=story.name)
        run.case(1).guard(guard)
    return judged(RunDirectory.open(run.path)), len(hidden)


@pytest.mark.parametrize(
    ("story", "release", "hides", "count"),
    [
        (BESIDE_A_PAUSE, "4.2.0", lambda attempt: attempt.attempt > 0, 5),
        (CALM, "5.3.3", lambda attempt: attempt.send % 20 == 19, 7),
        (CALM, "5.3.3", lambda _attempt: False, 0),
    ],
    ids=["each retry", "one send in twenty", "nothing"],
)
def test_hidden_requests_are_the_clients_fault(
    story: ModeStory, release: str, hides: Hides, count: int, new_run: NewRun
) -> None:
    """An unreported request diverges with an example; ``attempts`` is invalid, because its records are incomplete."""
    judgement, hidden = run_beside_a_relay(new_run, story, release, hides)
    found = [
        divergence for result in judgement.results if result.check == "protocol" for divergence in result.divergences
    ]
    assert [(one.subject, one.signature, one.count) for one in found] == (
        [(f"python:{release}", HIDDEN, count)] if count else []
    )
    assert hidden == count
    assert judgement.exit_code is (ExitCode.DIVERGES if count else ExitCode.CONFORMS)
    for divergence in found:
        assert divergence.example.expected == "every request reported as an attempt"
        assert divergence.example.observed.startswith("send ")
        assert divergence.example.observed.endswith(" was on the wire but not reported by the client")
        assert {result.verdict for result in judgement.results if result.check == "attempts"} == {Verdict.INVALID}


def with_statuses(new_run: NewRun, story: ModeStory, *, returned: bool = False) -> RunDirectory:
    """
    A relay saw a broker answer FLUSH_DISK_TIMEOUT to sends 20 to 22.

    returned: the candidate's calls return this status, but its hook reports SEND_OK.
    """
    seen: list[Attempt] = []

    def look(records: ArmRecords) -> None:
        seen.extend(
            replace(each, status=RESERVED) for each in records.attempts if 20 <= each.send <= 22 and each.status
        )
        if returned:
            records.sends = [
                replace(send, status=RESERVED) if 20 <= send.send <= 22 else send for send in records.sends
            ]

    return witnessed(new_run([story], change=look), seen)


def found_in(run: RunDirectory) -> tuple[ExitCode, set[str]]:
    judgement = judged(run)
    return judgement.exit_code, {
        divergence.signature for result in judgement.results for divergence in result.divergences
    }


UNASKED = f"outcomes.failed-without-cause/{RESERVED}"
"""These brokers do not wait for their disks, so they never answer this."""

HIDDEN_STATUS = f"error.other-status/expected={RESERVED}/seen=SEND_OK/first"
RETRYING = replace(CALM, settings=replace(CALM.settings, retry_another_broker_when_not_store_ok=True))


@pytest.mark.parametrize(
    ("story", "returned", "found"),
    [
        (CALM, False, {HIDDEN_STATUS, UNASKED}),
        (ASYNC, False, {HIDDEN_STATUS}),
        (CALM, True, {UNASKED}),
        (RETRYING, False, {"attempts.stopped-early/retry", UNASKED}),
    ],
    ids=["hidden", "hidden from a callback", "returned", "to be retried"],
)
def test_a_status_other_than_the_wires_diverges(
    story: ModeStory, returned: bool, found: set[str], new_run: NewRun
) -> None:
    """A client that reports SEND_OK for FLUSH_DISK_TIMEOUT diverges; a call that returned it, unlike the hook, does not."""
    assert found_in(with_statuses(new_run, story, returned=returned)) == (ExitCode.DIVERGES, found)


def test_another_disagreement_with_the_wire_breaks_a_guard(new_run: NewRun) -> None:
    """Another disagreement, such as in a queue, breaks a guard: it is unknown which witness is wrong."""
    run = new_run([CALM])
    guard = Guard("witness-candidate", held=False, expected="one story", seen="1 sends differ", case=CALM.name)
    run.case(1).guard(guard)
    assert found_in(RunDirectory.open(run.path)) == (ExitCode.INCONCLUSIVE, set())
