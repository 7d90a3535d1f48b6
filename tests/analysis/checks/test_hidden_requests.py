"""Requests that a client hides from its hook, but a relay saw, are found."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.arm import CANDIDATE
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.run_info import Guard
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.protocol.records import encode_record
from rocketdiff.relay.remoting.cross_check import disagreements, not_told
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import RunJudgement
from tests.analysis.planting import ASYNC, BESIDE_A_PAUSE, CALM, ONEWAY
from tests.analysis.synthetic import Told
from tests.analysis.synthetic_modes import ModeStory
from tests.analysis.verdicts import judged

NewRun = Callable[..., RunDirectory]
Hides = Callable[[Attempt], bool]

HIDDEN = "protocol.attempt-not-told"


def run_beside_a_relay(new_run: NewRun, story: ModeStory, release: str, hides: Hides) -> tuple[RunJudgement, int]:
    """
    The verdict on a candidate that hides attempts, recorded as in ``run/case/sending/wire_witness.py``, and the number of certain ones.
    """
    hidden: list[Attempt] = []
    against: list[str] = []

    def hide(told: Told) -> None:
        seen = [replace(one, start_ns=one.start_ns + 1) for one in told.attempts]
        told.attempts = [one for one in told.attempts if not hides(one)]
        hidden.extend(not_told(told.attempts, seen, told.sends))
        against.extend(disagreements(told.attempts, seen, {}, 500_000_000))

    run = new_run([story], baseline=f"java:{release}", candidate=f"python:{release}", change=hide)
    case = run.case(1)
    if hidden:
        with case.witnessed(CANDIDATE) as recorder:
            for one in hidden:
                recorder.line(encode_record(one))
    case.seal()
    if against:
        case.guard(Guard("witness-candidate", held=False, expected="one story", seen=against[0], case=story.name))
    return judged(RunDirectory.open(run.path)), len(hidden)


def told_as(judgement: RunJudgement) -> list[tuple[str, str, int]]:
    found = [one for result in judgement.results if result.check == "protocol" for one in result.divergences]
    return [(one.subject, one.signature, one.count) for one in found]


DEFECTS: dict[str, tuple[ModeStory, str, Hides]] = {
    "each-retry": (BESIDE_A_PAUSE, "4.2.0", lambda one: one.attempt > 0),
    "one-in-twenty": (CALM, "5.3.3", lambda one: one.send % 20 == 19),
    "asynchronous": (ASYNC, "5.3.3", lambda _one: True),
    "one-way": (ONEWAY, "5.3.3", lambda one: one.send == 20),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_request_that_was_never_told_is_the_clients_fault(new_run: NewRun, defect: str) -> None:
    """An unreported request diverges with an example; ``attempts`` is invalid, because its records are incomplete."""
    judgement, hidden = run_beside_a_relay(new_run, *DEFECTS[defect])
    assert (judgement.exit_code, told_as(judgement)) == (
        ExitCode.DIVERGES,
        [("python:" + DEFECTS[defect][1], HIDDEN, hidden)],
    )
    (example,) = [one.example for result in judgement.results for one in result.divergences if one.signature == HIDDEN]
    assert example.expected == "every request reported as an attempt"
    assert example.observed.startswith("send ")
    assert example.observed.endswith(" was on the wire but not reported by the client")
    assert {result.verdict for result in judgement.results if result.check == "attempts"} == {Verdict.INVALID}


@pytest.mark.parametrize(("story", "release", "_hides"), DEFECTS.values(), ids=DEFECTS)
def test_a_client_that_tells_everything_is_not_accused(
    new_run: NewRun, story: ModeStory, release: str, _hides: Hides
) -> None:
    """A client that reports all requests has no finding."""
    judgement, hidden = run_beside_a_relay(new_run, story, release, lambda _one: False)
    assert (hidden, told_as(judgement)) == (0, [])
    assert judgement.exit_code in (ExitCode.CONFORMS, ExitCode.INCONCLUSIVE)


def test_how_many_are_counted(new_run: NewRun) -> None:
    """If a client hides one send in twenty of 150, seven are counted."""
    assert run_beside_a_relay(new_run, *DEFECTS["one-in-twenty"])[1] == 7


def test_of_asynchronous_sends_the_last_second_is_not_counted(new_run: NewRun) -> None:
    """Asynchronous sends of the last second (25) are not counted: their records may be under way."""
    hidden = run_beside_a_relay(new_run, *DEFECTS["asynchronous"])[1]
    assert ASYNC.mode is SendMode.ASYNC
    assert 100 <= hidden < 150
