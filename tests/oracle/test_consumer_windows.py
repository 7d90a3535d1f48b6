"""Each window that the rules allow, by release, worked out by hand."""

from collections.abc import Callable

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.core.units import NS_PER_S
from rocketdiff.oracle.consumer.windows import Windows, suspended_ms

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
    ("a first message", lambda its: its.first_message(is_refused=False), (0, 0, 0.5, 0.5)),
    ("a first message that is refused", lambda its: its.first_message(is_refused=True), (33, 31, 31.5, 31.5)),
    ("after a pull without an answer", lambda its: its.after_failed_pull(None), (3, 1, 1, 1)),
    ("after an error of the broker", lambda its: its.after_failed_pull(1), (3, 1, 1, 1)),
    ("after its flow control", lambda its: its.after_failed_pull(215), (3, 0.02, 0.02, 0.02)),
    ("a short pause, kept connection", lambda its: its.kept_connection(8 * NS_PER_S), (5, 5, 5, 5)),
    ("a pause at which pulls run out", lambda its: its.kept_connection(30 * NS_PER_S), (34, 32, 32, 32)),
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
    ("a first message", lambda its: its.first_message(is_refused=False), (0, 0, 0.5, 0.5)),
    ("a first message that is refused", lambda its: its.first_message(is_refused=True), (60, 35, 35.5, 35.5)),
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


@pytest.mark.parametrize("turned", [False, True])
def test_a_group_of_several_releases_has_the_longest_times(turned: bool) -> None:
    """Whichever member comes first."""
    settings: tuple[dict[str, int | str], ...] = (
        {"heartbeat_broker_interval_ms": 5_000, "poll_name_server_interval_ms": 40_000, "lock_interval_ms": 9_000},
        {"rebalance_wait_interval_ms": 50_000, "lock_interval_ms": 9_000},
    )
    made = [
        Windows.of(release, own, is_orderly=True) for release, own in zip(("4.5.2", "5.3.3"), settings, strict=True)
    ]
    its = Windows.widest(made[::-1] if turned else made)
    times = (its.heartbeat_ns, its.route_poll_ns, its.round_ns, its.pull_failure_ns, its.round_min_ns, its.renewal_ns)
    assert [time / NS_PER_S for time in times] == [30, 40, 50, 3, 1, 9]
    rules = its.rules
    assert (rules.first_pull_delay_ms, rules.round_min_interval_ms, rules.pull_failure_delay_ms) == (500, 1_000, 3_000)
    assert (rules.beats_on_connect, rules.new_queue_is_locked, rules.unlocks_at_once) == (False, False, False)
    assert (rules.refused_lock_delay_ms, its.is_orderly) == (0, True)


@pytest.mark.parametrize(
    ("asked_ms", "settings", "expected_ms"),
    [
        (None, {}, 1_000),
        (None, {"suspend_current_queue_time_ms": 700}, 700),
        (50, {"suspend_current_queue_time_ms": 700}, 50),
        (5, {}, 10),
        (40_000, {}, 30_000),
    ],
)
def test_how_long_a_failed_call_holds_its_queue_up(
    asked_ms: int | None, settings: dict[str, int | str], expected_ms: int
) -> None:
    """What the listener asks for, else what is set, within the client's limits."""
    assert suspended_ms(asked_ms, settings) == expected_ms


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
    renewing = Windows.of("5.3.3", {"lock_interval_ms": 5_000}, is_orderly=True)
    assert renewing.lock_of_a_killed_member() == 55 * NS_PER_S


def test_a_release_without_rules_is_refused() -> None:
    """An unknown release is an error that lists the known ones."""
    with pytest.raises(UsageError, match=r"5\.5\.0"):
        Windows.of("9.9.9", {})
