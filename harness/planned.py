"""Which checks a scenario is asked: its own and the two that are asked of every case."""

from harness.scenario import Scenario

IMPLICIT = ("protocol", "validity")


def checks_planned(scenario: Scenario) -> tuple[str, ...]:
    """Every one of them must come back with an answer."""
    return (*scenario.checks, *IMPLICIT)
