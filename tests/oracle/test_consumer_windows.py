"""Each window that the rules allow, by release, worked out by hand."""

from collections.abc import Callable

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.core.units import NS_PER_S
from rocketdiff.oracle.consumer.windows import Windows

RELEASES = ("4.5.2", "4.9.8", "5.1.4", "5.3.3")

NEVER = 3_600 * NS_PER_S

ROWS: tuple[tuple[str, Callable[[Windows], int], tuple[float, float, float, float]], ...] = (
    ("after a clean leave, or a kill", lambda its: its.no_owner_after_a_leave(), (0, 0, 0.5, 1.5)),
    (
        "the same without a notification",
        lambda its: its.no_owner_after_a_leave(is_notified=False),
        (20, 20, 20.5, 21.5),
    ),
    ("beside a broker that is down", lambda its: its.no_owner_beside_a_broker_that_is_down(2), (33, 33, 33.5, 34.5)),
    ("repeated ids", lambda its: its.no_owner_of_repeated_ids(), (150, 150, 150, 150)),
    ("a lost route", lambda its: its.no_owner_after_a_lost_route(), (50, 50, 50, 50)),
    ("a forgotten broker", lambda its: its.no_owner_after_a_lost_route(is_forgotten=True), (80, 80, 80, 80)),
    ("first messages of a new queue", lambda its: its.first_delivery(), (3, 1, 1.5, 1.5)),
    ("a short pause, kept connection", lambda its: its.kept_connection(8 * NS_PER_S), (5, 5, 5, 5)),
    ("a long pause, kept connection", lambda its: its.kept_connection(38 * NS_PER_S), (34, 32, 32, 32)),
    ("a pause, closed connection", lambda its: its.closed_connection(), (33, 31, 31, 2)),
    ("a dead master, restarted", lambda its: its.dead_master(), (38, 36, 36, 7)),
    (
        "a pause in which the client may have asked",
        lambda its: its.broker_was_down(8 * NS_PER_S, was_killed=False, may_have_closed=True),
        (33, 31, 31, 5),
    ),
    (
        "a pause in which it has asked nothing",
        lambda its: its.broker_was_down(8 * NS_PER_S, was_killed=False, may_have_closed=False),
        (5, 5, 5, 5),
    ),
)


@pytest.mark.parametrize(("window", "expected_s"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_window_by_release(window: Callable[[Windows], int], expected_s: tuple[float, ...]) -> None:
    """The longest time that each release's rules allow, with default settings."""
    assert tuple(window(Windows.of(release, {})) / NS_PER_S for release in RELEASES) == expected_s


IN_ORDER: tuple[tuple[str, Callable[[Windows], int], tuple[float, float, float, float]], ...] = (
    ("first messages of a new queue", lambda its: its.first_delivery(), (26, 1, 1.5, 1.5)),
    ("a lock that another member gives up", lambda its: its.lock_of_another(), (41, 41, 21.5, 1.5)),
    ("a lock of a dead member", lambda its: its.lock_of_another(was_killed=True), (80, 80, 60.5, 61)),
    ("the least of it", lambda its: its.lock_of_a_killed_member(), (40, 40, 40, 40)),
    ("a call that outlasts its lock", lambda its: min(its.call_outlasts_lock(), NEVER), (3600, 3600, 40, 0.5)),
    (
        "a short pause, whose lock is asked for again",
        lambda its: its.broker_was_down(8 * NS_PER_S, was_killed=False, may_have_closed=False),
        (9, 9, 9, 9),
    ),
    (
        "a dead master, restarted without locks",
        lambda its: its.broker_was_down(8 * NS_PER_S, was_killed=True, may_have_closed=True),
        (42, 40, 40, 11),
    ),
)


@pytest.mark.parametrize(("window", "expected_s"), [row[1:] for row in IN_ORDER], ids=[row[0] for row in IN_ORDER])
def test_a_window_of_an_orderly_group_by_release(
    window: Callable[[Windows], int], expected_s: tuple[float, ...]
) -> None:
    """A lock is kept for 60 s, renewed every 20 s, and asked for again in a round; until 4.9.5 a new queue waits for the renewal."""
    seen = tuple(window(Windows.of(release, {}, is_orderly=True)) / NS_PER_S for release in RELEASES)
    assert seen == expected_s


def test_a_group_of_several_releases_waits_for_the_slowest_lock() -> None:
    """One member that asks every 20 s, and one that unlocks after 20 s, make the window of both."""
    made = [Windows.of(release, {}, is_orderly=True) for release in ("5.3.3", "4.9.4")]
    widest = Windows.widest(made)
    assert (widest.lock_of_another(), widest.first_delivery()) == (41 * NS_PER_S, (0.5 + 1 + 20 + 1) * NS_PER_S)
    assert Windows.of("5.3.3", {}).lock_of_another() == 0


def test_settings_of_the_scenario_count() -> None:
    """Periods and delays that a scenario sets replace the release's; one that a release lacks is ignored."""
    settings = {
        "heartbeat_broker_interval_ms": 5_000,
        "rebalance_wait_interval_ms": 600_000,
        "rebalance_min_interval_ms": 3_000,
        "pull_time_delay_when_exception_ms": 200,
    }
    old, new = Windows.of("5.1.4", settings), Windows.of("5.3.3", settings)
    assert (old.closed_connection(), new.closed_connection()) == (5.2 * NS_PER_S, 1.2 * NS_PER_S)
    assert (old.no_owner_after_a_leave(), new.no_owner_after_a_leave()) == (0.5 * NS_PER_S, 3.5 * NS_PER_S)
    assert old.no_owner_of_repeated_ids() == 730 * NS_PER_S


def test_a_release_without_rules_is_refused() -> None:
    """An unknown release is an error that lists the known ones."""
    with pytest.raises(UsageError, match=r"5\.5\.0"):
        Windows.of("9.9.9", {})
