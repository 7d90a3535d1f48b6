"""Clients whose defect a check could not judge must not pass."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.errors import ExitCode
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.judged_to_the_end import Ended
from tests.analysis.synthetic import MS, ORIGIN_NS, ArmRecords, Pause, Story

NewRun = Callable[..., RunDirectory]
EndingOf = Callable[[RunDirectory], Ended]

OFF = ClientSettings(send_msg_timeout_ms=500)
ONE = Story(name="one", settings=OFF, pauses=(Pause("broker-b", 1_000, 2_000),))
MISSED = Story(name="missed", settings=OFF, pauses=(Pause("broker-b", 8_000, 500),))
ON = Story(name="on", sends=1_250, every_ms=40)
THREE = replace(ON, pauses=tuple(Pause("broker-b", 1_000 + 12_000 * n, 1_500) for n in range(3)))
FOUR = replace(ON, pauses=tuple(Pause("broker-b", 1_000 + 12_000 * n, 1_500) for n in range(4)))
MANY = replace(
    ONE, name="many", pauses=tuple(Pause("broker-b", 1_000 + 2_500 * n, 1_200) for n in range(8)), sends=1_100
)


def lasting(blocked_ms: int) -> Callable[[ArmRecords], None]:
    """Set the duration of failed attempts and their sends; nothing later moves."""

    def change(records: ArmRecords) -> None:
        blocked = {attempt.send for attempt in records.attempts if attempt.error}
        records.attempts = [
            replace(attempt, end_ns=attempt.start_ns + blocked_ms * MS) if attempt.error else attempt
            for attempt in records.attempts
        ]
        records.sends = [
            replace(send, end_ns=send.start_ns + blocked_ms * MS + MS) if send.send in blocked else send
            for send in records.sends
        ]

    return change


def twice(records: ArmRecords) -> None:
    """Send and report every tenth message twice."""
    for number in range(0, 200, 10):
        place, first = next((n, one) for n, one in enumerate(records.attempts) if one.send == number)
        again = replace(first, attempt=1, start_ns=first.end_ns + 1_000, end_ns=first.end_ns + 2_000)
        records.attempts.insert(place + 1, again)
        records.stored.append(
            replace(next(message for message in records.stored if message.send == number), queue_offset=50_000 + number)
        )


def later(by_ms: int) -> Callable[[ArmRecords], None]:
    def change(records: ArmRecords) -> None:
        records.sends = [
            replace(send, end_ns=send.end_ns + by_ms * MS) if send.error else send for send in records.sends
        ]

    return change


def nothing_failed(records: ArmRecords) -> None:
    """Report SEND_OK after 1 ms for every attempt and send."""

    def ok(one: Attempt | Send) -> dict[str, Any]:
        return {"error": None, "status": "SEND_OK", "end_ns": one.start_ns + MS}

    records.attempts = [replace(attempt, **ok(attempt)) if attempt.error else attempt for attempt in records.attempts]
    place = {attempt.send: attempt for attempt in records.attempts}
    records.sends = [
        replace(
            send, **ok(send), code=None, cause=None, broker=place[send.send].broker, queue_id=place[send.send].queue_id
        )
        if send.error
        else send
        for send in records.sends
    ]


def fails_without_trying(records: ArmRecords) -> None:
    """Sends in the pause fail as if their budget were spent, without an attempt."""
    first_ns, last_ns = ORIGIN_NS + 1_000 * MS, ORIGIN_NS + 3_000 * MS
    hit = {send.send for send in records.sends if first_ns < send.start_ns < last_ns}
    records.attempts = [attempt for attempt in records.attempts if attempt.send not in hit]
    records.stored = [message for message in records.stored if message.send not in hit]
    records.sends = [
        replace(
            send, error="RemotingTooMuchRequestException", status=None, broker=None, queue_id=None, queue_offset=None
        )
        if send.send in hit
        else send
        for send in records.sends
    ]


@pytest.mark.parametrize(
    ("story", "change", "code", "signature"),
    [
        pytest.param(ONE, lasting(250), ExitCode.DIVERGES, "attempts.", id="half-its-timeout"),
        pytest.param(ONE, lasting(2_600), ExitCode.DIVERGES, "attempts.outlasted-timeout", id="no-timeout-at-all"),
        pytest.param(MISSED, twice, ExitCode.DIVERGES, "attempts.went-on", id="twice-beside-a-pause-nobody-met"),
        pytest.param(ONE, fails_without_trying, ExitCode.DIVERGES, "attempts.", id="fails-without-trying"),
        pytest.param(MANY, nothing_failed, None, "", id="says-that-nothing-failed"),
        pytest.param(THREE, later(500), ExitCode.INCONCLUSIVE, "", id="twice-as-long-in-three-spells"),
        pytest.param(FOUR, later(500), ExitCode.DIVERGES, "timing.", id="twice-as-long-in-four"),
        pytest.param(FOUR, later(150), ExitCode.DIVERGES, "timing.", id="sleeps-after-each-failure"),
        pytest.param(FOUR, later(20), ExitCode.CONFORMS, "", id="a-little-slower-within-the-margin"),
    ],
)
def test_no_defect_ends_in_exit_code_0(
    story: Story,
    change: Callable[[ArmRecords], None],
    code: ExitCode | None,
    signature: str,
    new_run: NewRun,
    ending_of: EndingOf,
) -> None:
    """Neither a finding nor an estimate beyond its margin ends in exit code 0; the last client is within the margin."""
    ended = ending_of(new_run([story], change=change))
    found = {divergence.signature for each in ended.judgement.results for divergence in each.divergences}
    assert ended.judgement.exit_code in ((code,) if code is not None else (ExitCode.DIVERGES, ExitCode.INCONCLUSIVE))
    assert any(one.startswith(signature) for one in found) or not signature, found
