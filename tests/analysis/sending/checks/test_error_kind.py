"""The check ``error-kind`` on manually judged sends."""

from typing import Any

import pytest

from rocketdiff.analysis.sending.checks.by_rules.error_kind import ErrorKind
from rocketdiff.oracle.producer.judgement import DifferenceKind, SendJudgement
from tests.analysis.builders import tried
from tests.analysis.sending.checks.builders import RESERVE, SLOW, facts_alone, judged, send


@pytest.mark.parametrize(
    ("row", "judgement", "seen", "met"),
    [
        ({}, judged(), None, None),
        ({"error": SLOW, "status": None}, judged(), SLOW, "failed"),
        ({"status": RESERVE}, judged(), RESERVE, RESERVE),
        ({"error": SLOW, "status": None}, None, SLOW, None),
        ({"error": SLOW, "status": None}, judged(kind=DifferenceKind.QUEUE, attempt=1), SLOW, None),
        ({"error": SLOW, "status": None}, judged(kind=DifferenceKind.ERROR), SLOW, "failed"),
        ({"status": None}, judged(), None, None),
    ],
)
def test_ends_judged_to_the_end_are_decisions(
    row: dict[str, Any], judgement: SendJudgement | None, seen: str | None, met: str | None
) -> None:
    """All ends other than SEND_OK are counted; those judged to the end are decisions."""
    found = facts_alone(ErrorKind, send(judgement, tried(0, 1), **row))
    assert found.keys("error-kind.seen", "candidate") == ((seen,) if seen else ())
    assert found.keys("error-kind", "candidate") == ((seen,) if seen and met else ())
    assert found.keys("error-kind.met", "candidate") == ((met,) if met else ())
