"""The checks of a run: each scenario's own, the three of every case, and the pooled ones."""

from collections.abc import Iterable, Sequence

from rocketdiff.core.answers.evidence import pool_name
from rocketdiff.core.tables.checks import ASKED, IMPLICIT, OF_QUEUES, STATISTICAL
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.scenario import Scenario

TOLD_UNPLANNED = tuple(check for check in ASKED if check not in STATISTICAL)
"""Checks that read every send of every case and report any difference, planned or not; the others need a scenario that measures."""


def checks_planned(scenario: Scenario) -> tuple[str, ...]:
    """The checks of a case, each of which must be answered; before a proxy also those that do not apply there, so that they say so."""
    of_queues = OF_QUEUES if topology_named(scenario.topology).has_proxies else ()
    return (*scenario.checks, *of_queues, *IMPLICIT)


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
