"""`subject check` without a cluster: error names, stored properties, and a subject that never gets ready."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.records.session import Hello
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.run.subject_check import check
from rocketdiff.run.subject_check.check import check_subject, foreign_errors, untold_attempts
from rocketdiff.subjects.registry import resolved


def warnings_of(*errors: str) -> list[str]:
    transcript = Transcript()
    for number, error in enumerate(errors):
        transcript.keep(Attempt(number, 0, 0, "broker-a", 0, 1, 2, error))
        transcript.keep(Send(number, 0, 1, 2, error=error))
    findings = list(foreign_errors(transcript))
    assert not any(finding.problem for finding in findings)
    return [finding.tried for finding in findings]


def test_names_of_the_clients_own_are_named_once_with_the_words_to_report() -> None:
    """A client's own error names are reported once with the allowed words, because each is a permanent difference."""
    (sentence,) = warnings_of("errors.errorString", "AcmeTimeout", "AcmeTimeout")
    assert sentence.startswith("errors AcmeTimeout, errors.errorString: RocketMQ has no such class")
    assert "timeout, refused, connection-lost" in sentence


def test_words_and_classes_of_rocketmq_are_right() -> None:
    """RocketMQ classes, the allowed words, UnseenEnd and NeverCalledBack give no finding."""
    assert (
        warnings_of("timeout", "other", "RemotingTimeoutException", "MQClientException", "UnseenEnd", "NeverCalledBack")
        == []
    )


@pytest.mark.parametrize(
    ("signature", "problems"), [("protocol.stalled", [True]), ("died", [True, True])], ids=["a stall", "a death"]
)
def test_after_a_stall_or_a_repeated_failure_nothing_else_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, signature: str, problems: list[bool]
) -> None:
    """After a stall, or two equal failures, no further call is tried: each could cost 60 s."""

    def failing(*_: Any) -> None:
        raise SubjectBroken(signature, expected="ready within 60 s", seen="silence in stage PREPARING")

    monkeypatch.setattr("rocketdiff.run.subject_check.check._tried", failing)
    findings = list(check_subject(resolved("java:5.3.3"), cast("Cluster", None), tmp_path))
    assert [bool(finding.problem) for finding in findings] == [*problems, False]
    assert findings[-1].tried.startswith("no further checks")


def test_a_mode_without_reported_attempts_is_named() -> None:
    """A mode without attempts is reported for a client that claims attempts."""
    transcript = Transcript()
    for record in (Hello(1, "acme", "1.0", ("plain", "oneway", "attempts"), 1, 1), Send(0, 0, 1, 2), Send(1, 0, 3, 4)):
        transcript.keep(record)
    (problem,) = untold_attempts(transcript)
    assert problem.startswith("0 of 2 sends have one, though hello claims attempts")
    transcript.keep(Attempt(0, 0, 0, "broker-a", 0, 1, 2))
    transcript.keep(Attempt(1, 0, 0, "broker-a", 0, 3, 4))
    assert untold_attempts(transcript) == []


def test_a_failed_send_that_stood_at_a_breakpoint_is_not_judged() -> None:
    """Of an attached program, a send that failed after seconds is named and left out, wherever its message lies; others are judged."""
    sends = [Send(number, 0, 1, 2, status="SEND_OK") for number in range(check.SENDS - 1)]
    held = Send(check.SENDS - 1, 0, 1, 130_000_000_001, error="RemotingConnectException")
    stored = tuple(
        cast(Any, SimpleNamespace(send=number, body_ok=True, broker=None, queue_id=0, queue_offset=0))
        for number in range(1, check.SENDS - 1)
    )
    trial = check._Trial(Transcript(sends=[*sends, held]), stored, has_stopped=True, clock_off_ns=0)
    judged, note = check._without_held(trial)
    assert note == f"not judged, as held up for up to 130 s: send {check.SENDS - 1} (RemotingConnectException)"
    assert check._problems(judged, SendKind.PLAIN, SendMode.SYNC) == [
        "1 of 20 messages are not stored, the first is number 0"
    ]
    assert check._problems(trial, SendKind.PLAIN, SendMode.SYNC)[0].startswith(
        "1 of 20 failed though nothing was wrong"
    )


AS_ASKED = {"KEYS": "a-key", "TAGS": "a-tag", "colour": "grün"}


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (AS_ASKED, ""),
        ({"TAGS": "a-tag"}, "messages lack KEYS, colour, a difference"),
        (AS_ASKED | {"colour": "grÃ¼n"}, "messages lack colour (they have 'grÃ¼n'), a difference"),
    ],
    ids=["all", "none of some", "encoded twice"],
)
def test_a_message_without_a_property_is_reported_with_its_others(stored: dict[str, str], message: str) -> None:
    """Missing or changed properties are reported with the stored value."""
    trial = cast(Any, SimpleNamespace(stored=[SimpleNamespace(properties=json.dumps(stored))]))
    reported = [finding.tried for finding in check._carried(trial)]
    assert (message in reported[0]) if message else reported == []
