"""Which checks a scenario is asked: its own and the two that are asked of every case; and which may tell something unasked."""

from harness.scenario import Scenario
from harness.scenario.model import CHECKS

IMPLICIT = ("protocol", "validity")

TOLD_UNPLANNED = tuple(check for check in CHECKS if check not in ("timing", "failover-time"))
"""Checks that look at every send of every case and tell any difference they see; the others need a scenario that measures."""


def checks_planned(scenario: Scenario) -> tuple[str, ...]:
    """Every one of them must come back with an answer."""
    return (*scenario.checks, *IMPLICIT)
