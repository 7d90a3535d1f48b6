"""Which checks a run is asked: each scenario's own, the three asked of every case, the pooled ones; and which tell something unasked."""

from collections.abc import Iterable, Sequence

from rocketdiff.core.checks import ASKED, IMPLICIT, STATISTICAL
from rocketdiff.core.evidence import pool_name
from rocketdiff.scenario import Scenario

TOLD_UNPLANNED = tuple(check for check in ASKED if check not in STATISTICAL)
"""Checks that look at every send of every case and tell any difference they see; the others need a scenario that measures."""


def checks_planned(scenario: Scenario) -> tuple[str, ...]:
    """Every one of them must come back with an answer."""
    return (*scenario.checks, *IMPLICIT)


def pooled_planned(
    scenarios: Iterable[tuple[Scenario, Sequence[str]]], baseline: str, candidate: str
) -> tuple[tuple[str, str], ...]:
    """(pool, check) of every pooled question that scenarios with their checks ask: those that pause a broker and time it."""
    asked = {
        (pool_name(baseline, candidate, is_latency_on=scenario.settings.send_latency_fault_enable), check): None
        for scenario, checks in scenarios
        for check in checks
        if check in STATISTICAL and scenario.episodes
    }
    return tuple(asked)


def count_planned(scenarios: Iterable[Scenario], baseline: str, candidate: str) -> int:
    """How many checks have to be answered, pooled ones included."""
    asked = [(scenario, checks_planned(scenario)) for scenario in scenarios]
    return sum(len(checks) for _, checks in asked) + len(pooled_planned(asked, baseline, candidate))
