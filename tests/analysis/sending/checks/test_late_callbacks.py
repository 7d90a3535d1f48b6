"""How long after its answer a callback may come."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.analysis.sending.checks.by_rules.late_callbacks import LateCallbacks, are_late
from rocketdiff.analysis.sending.checks.context import CaseContext
from rocketdiff.analysis.sending.send_facts import SendFacts
from rocketdiff.analysis.sending.steps.rulebook import rulebook_for
from rocketdiff.core.arm import Arm
from rocketdiff.traces.journal import WIRE
from rocketdiff.traces.manifest import ArmSummary
from tests.analysis.builders import MS
from tests.analysis.trace_builders import SLOW, SMALL, trace

SEEN_BY_CLIENTS = {arm: ArmSummary(40, 40, 0, True) for arm in Arm}
SEEN_BY_RELAYS = {arm: ArmSummary(40, 40, 0, True, witness=WIRE) for arm in Arm}


def sends(late_ms: float, every: int = 1, **row: Any) -> list[dict[str, Any]]:
    """Forty asynchronous sends with attempts of 1 ms; the callback of every so-many-th comes late."""
    return [
        {"send": n, "mode": "async", "end_ns": MS + (round(late_ms * MS) if n % every == 0 else 0)} | row
        for n in range(40)
    ]


def differences(
    baseline: Any, candidate: Any, arms: Any = SEEN_BY_CLIENTS, subjects: Any = None
) -> Sequence[DifferenceFact]:
    entry = replace(SMALL, sends_planned=40, arms=arms)
    case = trace(
        entry, subjects, sends_baseline=baseline, sends_candidate=candidate, attempts=[{"send": n} for n in range(40)]
    )
    collector = SendFacts(case.run, 1, 0)
    LateCallbacks(CaseContext(case, rulebook_for(case), collector)).finish()
    return collector.differences()


def found(baseline: Any, candidate: Any, **case: Any) -> list[str]:
    return [fact.signature for fact in differences(baseline, candidate, **case)]


@pytest.mark.parametrize(
    ("baseline", "candidate", "signatures"),
    [
        (sends(0), sends(11), ["callbacks.called-late"]),
        (sends(0), sends(10), []),
        (sends(0), sends(11, every=2), ["callbacks.called-late"]),
        (sends(0), sends(11, every=3), []),
        (sends(11), sends(11), []),
        (sends(11), sends(0), []),
        (sends(0), sends(11, mode="sync"), []),
        (sends(0), sends(11, error=SLOW, status=None), []),
    ],
)
def test_callbacks_that_come_long_after_their_answers(baseline: Any, candidate: Any, signatures: list[str]) -> None:
    """The candidate's callbacks of successful sends diverge if many are over 10 ms late, and few of the baseline's."""
    assert found(baseline, candidate) == signatures


def test_the_latest_callback_is_the_example() -> None:
    """With the number of late ones of both clients."""
    baseline, candidate = sends(0), sends(11, every=2)
    candidate[7]["end_ns"] += 1_400 * MS
    (late,) = differences(baseline, candidate)
    assert (late.arm, late.send, late.phase, late.at_ns) == ("candidate", 7, "calm", 1_401 * MS)
    assert late.expected == "callbacks when the answer has come, 0 of the baseline's over 10 ms later"
    assert late.observed == "21 of 40 over 10 ms later, this one 1,400 ms"


@pytest.mark.parametrize("seen_by_relays", [list(Arm), [Arm.BASELINE], [Arm.CANDIDATE]])
def test_relays_do_not_see_when_a_client_has_an_answer(seen_by_relays: Sequence[Arm]) -> None:
    """Attempts that relays saw end elsewhere than in the client."""
    arms = {arm: (SEEN_BY_RELAYS if arm in seen_by_relays else SEEN_BY_CLIENTS)[arm] for arm in Arm}
    assert found(sends(0), sends(11), arms=arms) == []


def test_callbacks_are_not_compared_without_rules() -> None:
    """Which thread chose a broker is known of clients with rules."""
    assert found(sends(0), sends(11), subjects={Arm.BASELINE: "go:2.1.1", Arm.CANDIDATE: "go:2.1.2"}) == []


@pytest.mark.parametrize(
    ("baseline", "candidate", "callbacks", "late"),
    [
        (0, 19, 40, False),
        (0, 20, 40, True),
        (0, 20, 200, True),
        (0, 20, 201, False),
        (5, 30, 40, False),
        (0, 0, 0, False),
    ],
)
def test_late_callbacks_are_many_and_far_more_than_the_baselines(
    baseline: int, candidate: int, callbacks: int, late: bool
) -> None:
    """Twenty late ones to none are needed, and one in ten."""
    assert are_late(baseline, candidate, callbacks) is late
