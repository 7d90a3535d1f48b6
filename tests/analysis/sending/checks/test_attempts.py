"""The check ``attempts`` on manually judged sends."""

from dataclasses import replace

import pytest

from rocketdiff.analysis.sending.checks.by_rules.attempts import Attempts
from rocketdiff.core.records.sending import Attempt
from rocketdiff.oracle.producer.judgement import DifferenceKind, SendJudgement
from tests.analysis.builders import S, tried
from tests.analysis.sending.checks.builders import (
    CANDIDATE,
    FAILED,
    OK,
    RESERVE,
    facts_alone,
    judged,
    send,
)

STORED = tried(10 * S, 11 * S, status=RESERVE)


@pytest.mark.parametrize(
    ("each", "judgement", "seen", "bound"),
    [
        ((tried(0, 1),), judged(), {}, {}),
        ((FAILED, OK), judged(), {"failed": 1, "retry": 1}, {"failed": 1, "retry": 1}),
        ((STORED, OK), judged(), {"not-store-ok": 1, "retry": 1}, {"not-store-ok": 1, "retry": 1}),
        ((FAILED, OK), None, {"failed": 1, "retry": 1}, {}),
        ((FAILED, OK), judged(undecided="why"), {"failed": 1, "retry": 1}, {}),
        ((FAILED, OK), judged(kind=DifferenceKind.QUEUE, attempt=1), {"failed": 1, "retry": 1}, {"failed": 1}),
        ((FAILED, OK), judged(kind=DifferenceKind.ATTEMPTS, attempt=0), {"failed": 1, "retry": 1}, {}),
        ((FAILED, OK), judged(kind=DifferenceKind.QUEUE), {"failed": 1, "retry": 1}, {}),
        (
            (FAILED, OK),
            judged(kind=DifferenceKind.ERROR, attempt=0),
            {"failed": 1, "retry": 1},
            {"failed": 1, "retry": 1},
        ),
        (
            (FAILED, replace(FAILED, attempt=1), replace(OK, attempt=2)),
            judged(),
            {"failed": 2, "retry": 2},
            {"failed": 2, "retry": 2},
        ),
    ],
)
def test_attempts_before_a_wrong_queue_are_decisions(
    each: tuple[Attempt, ...], judgement: SendJudgement | None, seen: dict[str, int], bound: dict[str, int]
) -> None:
    """Attempts before a wrong queue or attempt are decisions; each situation is met once per send."""
    found = facts_alone(Attempts, send(judgement, *each))
    for name, wanted in (("attempts.seen", seen), ("attempts", bound)):
        assert {key: found.n(name, key, arm=CANDIDATE) for key in found.keys(name, "candidate")} == wanted, name
    assert {key: found.n("attempts.met", key) for key in found.keys("attempts.met", "candidate")} == dict.fromkeys(
        bound, 1
    )


def test_attempts_are_counted_in_their_own_phase() -> None:
    """Attempts count in their own phase, under or after the pause; the send belongs to the pause."""
    found = facts_alone(Attempts, send(judged(), FAILED, tried(13 * S, 14 * S, attempt=1)))
    assert found.n("attempts", "failed", phase="paused") == found.n("attempts", "retry", phase="after") == 1
    assert found.n("attempts.met", phase="paused") == 2
