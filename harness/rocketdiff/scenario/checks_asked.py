"""The checks of a run: each scenario's own, the three implicit ones, and the pooled ones."""

from collections.abc import Iterable, Sequence

from rocketdiff.core.answers.evidence import GROUPS_POOL, latency_pool, pool_name
from rocketdiff.core.tables.checks import ASKED, OF_QUEUES, STATISTICAL, implicit_for
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.scenario import Scenario

REPORTED_UNPLANNED = tuple(check for check in ASKED if check not in STATISTICAL)
"""Checks that report any difference in any send, planned or not. The others need a scenario that measures."""


def checks_planned(scenario: Scenario) -> tuple[str, ...]:
    """
    Return the checks of a case, each of which must be answered.

    Behind a proxy this includes the queue checks, reported as NOT_APPLICABLE.
    """
    of_queues = OF_QUEUES if topology_named(scenario.topology).has_proxies else ()
    return (*scenario.checks, *of_queues, *implicit_for(scenario.role))


def pooled_planned(
    scenarios: Iterable[tuple[Scenario, Sequence[str]]], baseline: str, candidate: str
) -> tuple[tuple[str, str], ...]:
    """Return (pool, check) of every statistical check listed by a scenario with a pause."""
    asked = {
        (pool_name(baseline, candidate, _pool_of(scenario)), check): None
        for scenario, checks in scenarios
        for check in checks
        if check in STATISTICAL and scenario.spells_of(check)
    }
    return tuple(asked)


def _pool_of(scenario: Scenario) -> str:
    is_about_groups = scenario.role is ClientRole.CONSUMER
    return GROUPS_POOL if is_about_groups else latency_pool(scenario.settings.send_latency_fault_enable)


def count_planned(scenarios: Iterable[Scenario], baseline: str, candidate: str) -> int:
    """Return the number of checks to answer, including pooled ones."""
    asked = [(scenario, checks_planned(scenario)) for scenario in scenarios]
    return sum(len(checks) for _, checks in asked) + len(pooled_planned(asked, baseline, candidate))
