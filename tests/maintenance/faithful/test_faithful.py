"""
A sample of ``python -m maintenance.faithful``: no false alarm for real releases, whatever the format accepts.

The seeds are the same in every run.
"""

from collections.abc import Sequence
from functools import cache

import pytest

from maintenance.faithful.faithful import RELEASES
from maintenance.faithful.scenarios import drawn
from maintenance.faithful.trials import one_trial
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.scenario import Scenario
from rocketdiff.simulation.java_host.host import JavaHost


@cache
def all_drawn() -> Sequence[Scenario]:
    """The scenarios of the first 400 seeds."""
    return [drawn(seed).scenario for seed in range(400)]


@pytest.mark.parametrize("release", RELEASES)
def test_no_release_diverges_from_itself(java_host: JavaHost, release: str) -> None:
    """No release diverges from itself; at most three threads, since dozens are slow to judge."""
    few = [seed for seed, scenario in enumerate(all_drawn()) if scenario.workload.threads <= 3]
    one = one_trial(java_host, few[RELEASES.index(release)], release)
    assert one.alarm is None, one.alarm
    assert one.code in (ExitCode.CONFORMS, ExitCode.INCONCLUSIVE, ExitCode.NOTHING_DECISIVE)


def test_random_scenarios_cover_the_corners() -> None:
    """Random scenarios cover all modes, calls and kinds of fault, 1 and 64 threads, the shortest timeout, 0 and 100 retries."""
    assert {scenario.workload.mode for scenario in all_drawn()} == set(SendMode)
    assert {scenario.workload.call for scenario in all_drawn()} == set(SendKind) - {SendKind.GROUP}
    assert {1, 64} <= {scenario.workload.threads for scenario in all_drawn()}
    assert {1, 3_000} <= {scenario.settings.send_msg_timeout_ms for scenario in all_drawn()}
    assert {0, 100} <= {scenario.settings.retry_times_when_send_failed for scenario in all_drawn()}
    assert len({fault.kind for scenario in all_drawn() for fault in scenario.faults}) == 11
    assert any(_is_unknowable(scenario) for scenario in all_drawn())


def _is_unknowable(scenario: Scenario) -> bool:
    """True for asynchronous sends with fault latency that choose their own queue."""
    workload = scenario.workload
    is_asynchronous = workload.mode is SendMode.ASYNC and workload.call is SendKind.PLAIN
    return is_asynchronous and scenario.settings.send_latency_fault_enable and "queue-choice" not in scenario.checks
