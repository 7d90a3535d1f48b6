"""Each window that the rules allow, by release, worked out by hand."""

from collections.abc import Callable

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.core.units import NS_PER_S
from rocketdiff.oracle.consumer.windows import Windows

RELEASES = ("4.5.2", "4.9.8", "5.1.4", "5.3.3")

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
