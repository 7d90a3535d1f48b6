"""A run's checks: each scenario's, the implicit ones, and pooled ones once for all."""

from rocketdiff.core.resources import resource
from rocketdiff.scenario import load
from rocketdiff.scenario.checks_asked import checks_planned, count_planned, pooled_planned

BOTH = load(resource("fixtures/scenarios/fault-latency/pause-both-of-two.yaml"))
ONE = load(resource("fixtures/scenarios/fault-latency/pause-one-of-two.yaml"))
PLAIN = load(resource("fixtures/scenarios/round-robin/repeated-pauses.yaml"))
CALM = load(resource("fixtures/scenarios/round-robin/calm.yaml"))


def test_pools_are_planned_once_for_each_setting_of_fault_latency() -> None:
    """Each setting of fault latency has one pool for all its scenarios."""
    asked = [(one, checks_planned(one)) for one in (BOTH, ONE, PLAIN, CALM)]
    assert pooled_planned(asked, "java:5.3.3", "python:5.3.3") == (
        ("pooled/pause/fault-latency-on/java:5.3.3~python:5.3.3", "timing"),
        ("pooled/pause/fault-latency-on/java:5.3.3~python:5.3.3", "failover-time"),
        ("pooled/pause/fault-latency-off/java:5.3.3~python:5.3.3", "timing"),
        ("pooled/pause/fault-latency-off/java:5.3.3~python:5.3.3", "failover-time"),
    )


def test_the_count_is_of_cases_and_pools() -> None:
    """The count includes the two checks of a pool."""
    assert count_planned([ONE], "java:5.3.3", "python:5.3.3") == len(checks_planned(ONE)) + 2
