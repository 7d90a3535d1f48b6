"""Whole synthetic runs beside a relay: a client that hides requests or statuses from its hook is found."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rocketdiff.core.arm import CANDIDATE
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt
from rocketdiff.protocol.records import encode_record
from rocketdiff.relay.remoting.cross_check import unreported_attempts
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.sending.checks.builders import RESERVE
from tests.analysis.stories import ASYNC, CALM
from tests.analysis.synthetic import ArmRecords
from tests.analysis.synthetic_modes import ModeStory

NewRun = Callable[..., RunDirectory]
EndingOf = Callable[..., Ended]

HIDDEN = "protocol.attempt-not-told"


def witnessed(run: RunDirectory, attempts: list[Attempt]) -> RunDirectory:
    """Seal again with what a relay saw of the candidate."""
    case = run.case(1)
    with case.witnessed(CANDIDATE) as recorder:
        for attempt in attempts:
            recorder.line(encode_record(attempt))
    case.seal()
    return RunDirectory.open(run.path)


def test_hidden_requests_are_the_clients_fault(new_run: NewRun, ending_of: EndingOf) -> None:
    """Seven unreported requests diverge with an example."""
    hidden: list[Attempt] = []

    def hide(records: ArmRecords) -> None:
        seen = [replace(attempt, start_ns=attempt.start_ns + 1) for attempt in records.attempts]
        records.attempts = [attempt for attempt in records.attempts if attempt.send % 20 < 19]
        hidden.extend(unreported_attempts(records.attempts, seen, records.sends))

    judgement = ending_of(witnessed(new_run([CALM], change=hide), hidden)).judgement
    (found,) = (one for each in judgement.results if each.check == "protocol" for one in each.divergences)
    assert (found.subject, found.signature, found.count) == ("python:5.3.3", HIDDEN, len(hidden))
    assert (len(hidden), judgement.exit_code) == (7, ExitCode.DIVERGES)
    assert found.example.expected == "every request reported as an attempt"
    assert found.example.observed.startswith("send 19 in thread 0: a request for queue 2 of broker-b was on the wire")


UNASKED = f"outcomes.failed-without-cause/{RESERVE}"
"""These brokers do not wait for their disks, so they never answer this."""

HIDDEN_STATUS = f"error.other-status/expected={RESERVE}/seen=SEND_OK/first"
RETRYING = replace(CALM, settings=replace(CALM.settings, retry_another_broker_when_not_store_ok=True))


@pytest.mark.parametrize(
    ("story", "found"),
    [
        (CALM, {HIDDEN_STATUS, UNASKED}),
        (ASYNC, {HIDDEN_STATUS}),
        (RETRYING, {"attempts.stopped-early/retry", UNASKED}),
    ],
    ids=["hidden", "hidden from a callback", "to be retried"],
)
def test_a_status_that_the_wire_saw_otherwise(
    story: ModeStory, found: set[str], new_run: NewRun, ending_of: EndingOf
) -> None:
    """A client that reports SEND_OK diverges if a relay saw FLUSH_DISK_TIMEOUT as the answer to sends 20 to 22."""
    seen: list[Attempt] = []

    def look(records: ArmRecords) -> None:
        answered = [each for each in records.attempts if 20 <= each.send <= 22 and each.status]
        seen.extend(replace(each, status=RESERVE) for each in answered)

    judgement = ending_of(witnessed(new_run([story], change=look), seen)).judgement
    signatures = {divergence.signature for result in judgement.results for divergence in result.divergences}
    assert (judgement.exit_code, signatures) == (ExitCode.DIVERGES, found)
