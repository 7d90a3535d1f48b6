"""Results that name a place, and results that do not."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.sending.checks.by_rules.result_places import ResultPlaces
from rocketdiff.analysis.sending.checks.context import CaseContext
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.steps.rulebook import rulebook_for
from rocketdiff.core.arm import Arm
from tests.analysis.trace_builders import SLOW, SMALL, trace

NAMELESS: dict[str, Any] = {"broker": None}
OTHERS = {Arm.BASELINE: "java:5.3.3", Arm.CANDIDATE: "cpp:2.1.0"}


def found(baseline: list[dict[str, Any]], candidate: list[dict[str, Any]], subjects: Any = None) -> list[str]:
    rows = {
        f"sends_{arm}": [{"send": n} | row for n, row in enumerate(own)]
        for arm, own in (("baseline", baseline), ("candidate", candidate))
    }
    case = trace(replace(SMALL, sends_planned=len(baseline)), subjects, attempts=[], **rows)
    collector = SendFacts(case.run, 1, 0)
    ResultPlaces(CaseContext(case, rulebook_for(case), collector)).finish()
    return [f"{fact.signature} {fact.send}: {fact.observed}" for fact in collector.differences()]


@pytest.mark.parametrize(
    ("baseline", "candidate", "wanted"),
    [
        ([{}, {}], [{}, NAMELESS], ["queue.result-without-place/broker 1: none in 1 of 2 results"]),
        ([{}, {}], [{"queue_offset": None}] * 2, ["queue.result-without-place/queue_offset 0: none in 2 of 2 results"]),
        ([{}, {}], [{}, {}], []),
        ([NAMELESS], [NAMELESS], []),
        ([NAMELESS], [{}], []),
        ([{}], [NAMELESS | {"mode": "oneway"}], []),
        ([{"error": SLOW}], [NAMELESS], []),
        ([{}], [NAMELESS | {"error": SLOW}], []),
        ([{}], [], []),
    ],
)
def test_results_name_what_the_baselines_name(baseline: Any, candidate: Any, wanted: list[str]) -> None:
    """Acknowledged sends of both arms are compared."""
    assert found(baseline, candidate) == wanted


@pytest.mark.parametrize(("candidate", "differs"), [([NAMELESS, NAMELESS], False), ([{}, NAMELESS], True)])
def test_a_client_without_rules_may_name_no_place_at_all(candidate: Any, differs: bool) -> None:
    """But not sometimes one."""
    assert bool(found([{}, {}], candidate, OTHERS)) is differs
