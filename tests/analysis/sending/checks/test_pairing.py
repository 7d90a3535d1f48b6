"""Outages of a case are paired and pooled."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import INCOMPARABLE, CaseFacts
from rocketdiff.analysis.checks.pairing import (
    is_sound,
    margin_of,
    measures_of,
    pairs_of,
    pool_of,
    pooled_evidence,
    pools_of,
)
from rocketdiff.analysis.facts import OutageValue
from rocketdiff.analysis.sending.checks.durations import timing
from rocketdiff.analysis.sending.checks.durations.timing import BLOCKED_SEND
from rocketdiff.core.answers.evidence import Ending, Standing
from rocketdiff.core.answers.verdict import Severity, Verdict
from rocketdiff.core.arm import Arm
from rocketdiff.core.case import Tolerance
from rocketdiff.core.run_info import Guard
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.manifest import Breach, CaseStatus
from tests.analysis.builders import ENTRY, SUBJECTS, S, ended, fault
from tests.analysis.sending.checks.builders import BASELINE, CANDIDATE, sound_case


def value(
    episode: int, arm: Arm, ms: float, ending: Ending = Ending.FAILOVER, sample: str = BLOCKED_SEND.sample
) -> OutageValue:
    return OutageValue("timing", sample, arm, episode, ms * 1e6, 1, ending)


OPEN, RESUMED = Ending.OPEN, Ending.RESUMED

VALUES = (
    value(2, CANDIDATE, 30, RESUMED),
    value(1, BASELINE, 10),
    value(1, CANDIDATE, 20),
    value(2, BASELINE, 20),
    value(3, BASELINE, 40, OPEN),
    value(1, BASELINE, 99, sample="another"),
    replace(value(1, BASELINE, 99), check="another"),
)


def spells(*values: OutageValue, kind: FaultKind = FaultKind.PAUSE, **entry: Any) -> CaseFacts:
    facts = CaseFacts("r1", SUBJECTS, replace(ENTRY, checks=("timing",), **entry))
    return replace(facts, episodes=values, faults=(fault(S, 2 * S, FaultKind.KILL), fault(S, 2 * S, kind)))


def test_values_are_paired_by_spell() -> None:
    """Values are paired by outage; one that an arm never met is open for it."""
    pairs = [
        (one.episode, one.baseline_ns, one.candidate_ns, one.baseline_ended, one.candidate_ended)
        for one in pairs_of(spells(*VALUES), BLOCKED_SEND)
    ]
    assert pairs == [
        (1, 10e6, 20e6, Ending.FAILOVER, Ending.FAILOVER),
        (2, 20e6, 30e6, Ending.FAILOVER, RESUMED),
        (3, 40e6, None, OPEN, OPEN),
    ]


def test_means_are_of_failovers_and_the_others_are_counted() -> None:
    """Means are of failovers, 10 and 20 ms against 20 ms; one outage per arm ended otherwise and is counted."""
    measures = measures_of(pairs_of(spells(*VALUES), BLOCKED_SEND), BLOCKED_SEND)
    assert [(measure.name, measure.value, measure.unit, measure.n) for measure in measures] == [
        ("blocked-send-duration baseline", 15, "ms", 2),
        ("blocked-send-duration without failover baseline", 1, "count", 3),
        ("blocked-send-duration candidate", 20, "ms", 1),
        ("blocked-send-duration without failover candidate", 1, "count", 3),
    ]


def test_a_case_without_a_pause_is_not_asked_about_one() -> None:
    """A killed broker is no pause, so the check does not apply and the case joins no pool."""
    evidence = timing.evaluate(spells(*VALUES, kind=FaultKind.KILL))
    assert (evidence.standing, evidence.severity) == (Standing.NOT_APPLICABLE, Severity.INFO)
    assert evidence.reason == "no broker was paused in this case"
    assert pools_of([spells(*VALUES, kind=FaultKind.KILL)], "timing") == {}


def test_pools_are_by_fault_latency_and_of_cases_that_planned_the_check() -> None:
    """Cases that planned the check are pooled by fault latency, sorted by name."""
    on, off = spells(settings=ClientSettings(send_latency_fault_enable=True)), spells()
    names = [
        "pooled/pause/fault-latency-off/java:5.3.3~python:5.3.3",
        "pooled/pause/fault-latency-on/java:5.3.3~python:5.3.3",
    ]
    assert [pool_of(one) for one in (off, on)] == names
    assert pools_of([on, off, on], "timing") == {names[0]: [off], names[1]: [on, on]}
    assert list(pools_of([on, off], "timing")) == names
    assert pools_of([on, off], "failover-time") == {}


GUARD = Guard("control", False, "a", "b")


@pytest.mark.parametrize(
    ("entry", "sound"),
    [
        ({}, True),
        ({"status": CaseStatus.ABORTED}, False),
        ({"breaches": {CANDIDATE: Breach("protocol.died", "a living subject", "exit code 137")}}, False),
        ({"guards": (GUARD, replace(GUARD, held=True))}, False),
        ({"guards": (replace(GUARD, held=True),)}, True),
    ],
)
def test_only_a_sound_case_lends_its_spells(entry: dict[str, Any], sound: bool) -> None:
    """Only complete cases without a breach or a broken guard are pooled."""
    facts = spells(*VALUES, **entry)
    assert is_sound(facts) is sound
    (sample,) = pooled_evidence("pool", [facts], BLOCKED_SEND).samples
    assert len(sample.pairs) == (3 if sound else 0)
    assert not is_sound(replace(facts, tallies={(INCOMPARABLE, CANDIDATE, "", "other plans"): (1, 0.0)}))


def test_a_pool_names_its_runs_and_counts_informative_spells() -> None:
    """A pool names its runs and counts outages with a failover in at least one arm; a single one does not gate."""
    facts = spells(*VALUES)
    evidence = pooled_evidence("pool", [facts, replace(facts, run="r0")], BLOCKED_SEND)
    assert (evidence.runs, evidence.case, evidence.check) == (("r0", "r1"), "pool", "timing")
    assert (evidence.decisions, evidence.standing, evidence.severity) == (4, Standing.DECISIVE, Severity.MUST)
    alike = pooled_evidence("pool", [spells(*(value(n, arm, 10) for n in range(4) for arm in Arm))], BLOCKED_SEND)
    assert (alike.standing, alike.severity, alike.reason) == (Standing.DECISIVE, Severity.MUST, "")
    one = pooled_evidence("pool", [spells(*VALUES[1:3])], BLOCKED_SEND)
    assert (one.standing, one.severity) == (Standing.INDECISIVE, Severity.SHOULD)
    assert one.reason == "1 informative spell of pauses in total, at least 4 are needed"
    none = pooled_evidence("pool", [spells()], BLOCKED_SEND)
    assert none.reason == "0 informative spells of pauses in total, at least 4 are needed"


def spells_of(count: int, ratio: float = 1.0) -> CaseFacts:
    """Outages of half a second; the candidate's last ``ratio`` times as long."""
    values = tuple(
        OutageValue("timing", BLOCKED_SEND.sample, arm, n, 5e8 * (scale + 0.001 * (n % 2)), 1, Ending.FAILOVER)
        for n in range(count)
        for arm, scale in ((Arm.BASELINE, 1.0), (Arm.CANDIDATE, ratio))
    )
    return sound_case({}, episodes=values)


@pytest.mark.parametrize(
    ("count", "ratio", "verdict", "severity"),
    [
        (3, 1.0, Verdict.INCONCLUSIVE, Severity.SHOULD),
        (4, 1.0, Verdict.EQUIVALENT, Severity.MUST),
        (1, 2.0, Verdict.INCONCLUSIVE, Severity.SHOULD),
        (3, 2.0, Verdict.INCONCLUSIVE, Severity.MUST),
        (4, 2.0, Verdict.DIVERGES, Severity.MUST),
        (4, 0.5, Verdict.DIVERGES, Severity.MUST),
    ],
)
def test_four_spells_decide_and_three_do_not(count: int, ratio: float, verdict: Verdict, severity: Severity) -> None:
    """Four outages decide; three of double length leave a question that gates, one does not."""
    result, _ = ended(pooled_evidence("pooled", [spells_of(count, ratio)], BLOCKED_SEND))
    assert (result.verdict, result.severity) == (verdict, severity)


def test_of_several_tolerances_the_narrowest_holds() -> None:
    """A pool has its cases' narrowest margin, so none widens another's."""
    wide, narrow = (
        replace(sound_case({}), entry=replace(ENTRY, tolerances=(Tolerance("timing", ratio, f"{ratio}"),)))
        for ratio in (1.5, 1.1)
    )
    for pool in ([wide, narrow], [narrow, wide]):
        assert margin_of(pool, BLOCKED_SEND).ratio == 1.1
    assert margin_of([sound_case({})], BLOCKED_SEND).ratio == 1.2
