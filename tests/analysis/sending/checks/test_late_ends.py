"""Time of a call that none of its attempts took."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.sending.checks.by_rules.late_ends import LateEnds
from rocketdiff.analysis.sending.checks.context import CaseContext
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.steps.rulebook import rulebook_for
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import NEVER_CALLED_BACK
from rocketdiff.traces.journal import WIRE
from rocketdiff.traces.manifest import ArmSummary
from tests.analysis.builders import MS
from tests.analysis.trace_builders import SLOW, SMALL, trace

Tables = dict[str, list[dict[str, Any]]]


def calls(beside_ms: int, attempts: int = 2, sends: int = 30, **row: Any) -> Tables:
    """Calls whose attempts took 10 ms each, and that lasted longer by so much."""
    tried = [
        {"send": n, "attempt": k, "start_ns": k * 10 * MS, "end_ns": (k + 1) * 10 * MS}
        for n in range(sends)
        for k in range(attempts)
    ]
    ended = {"end_ns": attempts * 10 * MS + beside_ms * MS} | row
    return {"sends": [{"send": n} | ended for n in range(sends)], "attempts": tried}


def found(baseline: Tables, candidate: Tables, witness: str = "client") -> list[str]:
    entry = replace(SMALL, sends_planned=30, arms={arm: ArmSummary(30, 60, 0, True, witness=witness) for arm in Arm})
    tables: dict[str, Any] = {
        f"{name}_{arm}": rows for arm, own in zip(Arm, (baseline, candidate), strict=True) for name, rows in own.items()
    }
    case = trace(entry, **tables)
    collector = SendFacts(case.run, 1, 0)
    LateEnds(CaseContext(case, rulebook_for(case), collector)).finish()
    return [f"{fact.signature}: {fact.observed}" for fact in collector.differences()]


LATE = ["attempts.ends-late: 51 ms, and more than allowed in 30 of 30 that failed or were tried again"]


@pytest.mark.parametrize(
    ("baseline", "candidate", "wanted"),
    [
        (calls(0), calls(51), LATE),
        (calls(0), calls(50), []),
        (calls(51), calls(51), []),
        (calls(51), calls(0), []),
        (calls(0, attempts=1), calls(51, attempts=1), []),
        (calls(0, attempts=1), calls(51, attempts=1, error=SLOW), LATE),
        (calls(0, attempts=1), calls(51, attempts=0, error=SLOW), []),
        (calls(0), calls(51, error=NEVER_CALLED_BACK), []),
        (calls(0), calls(51, sends=19), []),
    ],
)
def test_calls_that_failed_or_were_tried_again_end_with_their_attempts(
    baseline: Tables, candidate: Tables, wanted: list[str]
) -> None:
    """Twenty late ones against none are no luck."""
    assert found(baseline, candidate) == wanted


def test_relays_do_not_see_when_attempts_begin_and_end_in_the_client() -> None:
    """So nothing is asked."""
    assert found(calls(0), calls(51), WIRE) == []
