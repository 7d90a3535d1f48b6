"""A client that reports another status than a relay saw is found."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.arm import CANDIDATE
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.run_info import Guard
from rocketdiff.protocol.records import encode_record
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.planting import ASYNC, CALM
from tests.analysis.synthetic import Told
from tests.analysis.synthetic_modes import ModeStory
from tests.analysis.verdicts import judged

NewRun = Callable[..., RunDirectory]

RESERVED = "FLUSH_DISK_TIMEOUT"
SENDS = (20, 21, 22)
"""Answered in calm."""


def with_wire(new_run: NewRun, story: ModeStory, release: str, *, heard: bool = False) -> RunDirectory:
    """
    A relay saw a broker answer FLUSH_DISK_TIMEOUT to these sends.

    heard: the candidate returns this status, but its hook reports SEND_OK.
    """
    seen: list[Attempt] = []

    def look(told: Told) -> None:
        answered = [one for one in told.attempts if one.send in SENDS and one.status is not None]
        seen.extend(replace(one, status=RESERVED) for one in answered)
        if heard:
            told.sends = [replace(one, status=RESERVED) if one.send in SENDS else one for one in told.sends]

    run = new_run([story], baseline=f"java:{release}", candidate=f"python:{release}", change=look)
    case = run.case(1)
    with case.witnessed(CANDIDATE) as recorder:
        for one in seen:
            recorder.line(encode_record(one))
    case.seal()
    return RunDirectory.open(run.path)


def found(run: RunDirectory) -> tuple[ExitCode, set[str]]:
    judgement = judged(run)
    return judgement.exit_code, {one.signature for result in judgement.results for one in result.divergences}


UNASKED = f"outcomes.failed-without-cause/{RESERVED}"
"""These brokers do not wait for their disks, so they never answer this."""

LIE = f"error.other-status/expected={RESERVED}/seen=SEND_OK/first"


@pytest.mark.parametrize(("story", "release"), [(CALM, "5.3.3"), (CALM, "4.2.0"), (ASYNC, "5.3.3")])
def test_a_status_that_the_wire_saw_otherwise_is_a_lie_of_the_client(
    new_run: NewRun, story: ModeStory, release: str
) -> None:
    """A client that reports SEND_OK for FLUSH_DISK_TIMEOUT diverges."""
    code, signatures = found(with_wire(new_run, story, release))
    assert (code, signatures - {UNASKED}) == (ExitCode.DIVERGES, {LIE})


def test_what_was_returned_as_the_wire_saw_it_is_no_lie(new_run: NewRun) -> None:
    """If only the hook was wrong and the call returned the right status, no wrong status is found."""
    _, signatures = found(with_wire(new_run, CALM, "5.3.3", heard=True))
    assert signatures == {UNASKED}


def test_a_status_to_be_tried_elsewhere_and_hidden_is_found(new_run: NewRun) -> None:
    """With retry_another_broker_when_not_store_ok a hidden status leaves an attempt missing."""
    story = replace(CALM, settings=replace(CALM.settings, retry_another_broker_when_not_store_ok=True))
    code, signatures = found(with_wire(new_run, story, "5.3.3"))
    assert (code, signatures - {UNASKED}) == (ExitCode.DIVERGES, {"attempts.stopped-early/retry"})


def test_what_else_the_two_tell_differently_stays_a_guard(new_run: NewRun) -> None:
    """Another disagreement, such as in a queue, breaks a guard: nobody knows which witness is wrong."""
    run = new_run([CALM])
    guard = Guard("witness-candidate", held=False, expected="one story", seen="1 sends differ", case=CALM.name)
    run.case(1).guard(guard)
    code, signatures = found(RunDirectory.open(run.path))
    assert (code, signatures) == (ExitCode.INCONCLUSIVE, set())
