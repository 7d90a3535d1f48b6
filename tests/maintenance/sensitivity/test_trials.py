"""Which defects have an opportunity in which scripted trace, and the resulting exit code."""

from dataclasses import replace

import pytest

from maintenance.sensitivity import groups
from maintenance.sensitivity.stories import is_played, scenarios_of
from maintenance.sensitivity.trials import exit_code, occasions, trials
from rocketdiff.core.errors import ExitCode
from tests.analysis.sending.bank import BANK
from tests.analysis.stories import BESIDE_A_PAUSE, CALM


@pytest.mark.parametrize(
    ("defect", "in_calm", "beside_a_pause"),
    [
        ("next-queue", True, True),
        ("half-a-timeout", False, True),
        ("no-retry", False, True),
        ("one-way-loses", False, False),
    ],
)
def test_a_defect_has_its_opportunity_where_it_changes_anything(
    defect: str, in_calm: bool, beside_a_pause: bool
) -> None:
    """Defects of failures need a pause, and one-way defects need one-way sends."""
    assert bool(occasions(BANK[defect], CALM)) is in_calm
    assert bool(occasions(BANK[defect], BESIDE_A_PAUSE)) is beside_a_pause


def test_keys_can_be_lost_where_there_are_some() -> None:
    """A defect of keys has no opportunity in a trace without keys."""
    assert occasions(BANK["no-keys"], CALM) == CALM.sends // 10
    assert not occasions(BANK["no-keys"], replace(CALM, keys=""))


def test_a_defect_of_third_retries_has_many_occasions_beside_a_dead_broker() -> None:
    """In quick, every third retry is ten sends; it was none."""
    (one,) = trials("quick", {"no-tags-on-third-retry": BANK["no-tags-on-third-retry"]}, [1])
    assert (one.found, one.is_luck) == (True, False)
    assert one.occasions >= 10


def test_a_defect_is_looked_for_until_a_case_shows_it() -> None:
    """A defect is found in the first case that shows it; without an opportunity there is no trial."""
    defect = BANK["half-a-timeout"]
    assert exit_code(defect, [CALM, BESIDE_A_PAUSE], seed=1) is ExitCode.DIVERGES
    assert [*trials("quick", {"one-way-loses": BANK["one-way-loses"]}, [1])] == []


def test_quick_finds_a_lie_about_queues() -> None:
    """Quick finds false reports of queues, with one trial per seed."""
    (one,) = trials("quick", {"next-queue": BANK["next-queue"]}, [1])
    assert (one.suite, one.defect, one.seed, one.found) == ("quick", "next-queue", 1, True)


def test_scenarios_with_other_faults_than_pauses_and_kills_are_left_to_clusters() -> None:
    """Scenarios of quick are played; those in which a broker is restarted or refuses, or whose route changes, are not."""
    assert all(is_played(one) for one in scenarios_of("quick"))
    left_out = {one.name for one in scenarios_of("full") if not is_played(one)}
    assert left_out >= {"fault-latency/kill-and-restart", "read-only/route-learnt-with-fault-latency"}


@pytest.mark.parametrize(
    ("defect", "found"),
    [("commits-nothing-after-a-pause", [True]), ("calls-two-at-once-in-order", [True]), ("knows-no-span", [])],
)
def test_a_defective_group_is_looked_for_in_scenarios_of_consumers(defect: str, found: list[bool]) -> None:
    """No scenario that is played reaches the span, and so none gives an occasion to exceed it."""
    assert [one.found for one in groups.trials("consumers", defect, [1])] == found


def test_scenarios_of_consumers_are_played() -> None:
    """But broadcasting, and a member that joins twice."""
    played = {scenario.name for scenario, _ in groups.scripts_of("consumers")}
    assert {scenario.name for scenario in groups.scenarios_of("consumers")} - played == {
        "backlog/stopped-group",
        "broadcast/two-members",
    }
