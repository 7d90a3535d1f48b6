"""How far a fault reaches in time, which brokers it affects, and fault periods, to the nanosecond."""

import numpy as np
import pytest

from rocketdiff.analysis.fault_windows import FaultPeriods, FaultReach, Span, Windows, as_clients_meet
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from tests.analysis import builders
from tests.analysis.builders import MS, S

SETTINGS = ClientSettings(send_msg_timeout_ms=500, retry_times_when_send_failed=1, retry_times_when_send_async_failed=3)
ATTEMPT_NS = 3_500 * MS
"""Timeout of 500 ms, plus 3 s to find an asynchronous request timed out."""


def fault(from_s: float, to_s: float | None, kind: FaultKind = FaultKind.PAUSE) -> FaultRecord:
    return builders.fault(round(from_s * S), None if to_s is None else round(to_s * S), kind)


@pytest.mark.parametrize(
    ("start_ns", "end_ns", "meets"),
    [
        (9 * S, 10 * S, False),
        (9 * S, 10 * S + 1, True),
        (10 * S - ATTEMPT_NS, 90 * S, False),
        (10 * S - ATTEMPT_NS + 1, 90 * S, True),
        (12 * S + ATTEMPT_NS - 1, 90 * S, True),
        (12 * S + ATTEMPT_NS, 90 * S, False),
    ],
)
def test_which_part_of_a_fault_an_attempt_meets(start_ns: int, end_ns: int, meets: bool) -> None:
    """An attempt meets a fault (10 to 12 s) up to 3.5 s, the longest attempt, before and after it."""
    reach = FaultReach.of_attempts([fault(10, 12)], SETTINGS)
    assert reach.lasting_ns == ATTEMPT_NS
    assert reach.meets(start_ns, end_ns) is meets
    assert not reach.meets(start_ns, end_ns, "broker-a")


def test_an_asynchronous_send_lasts_as_long_as_all_its_attempts() -> None:
    """Three retries make an asynchronous send last up to four attempts."""
    assert FaultReach.of_sends([], SETTINGS).lasting_ns == 4 * ATTEMPT_NS


@pytest.mark.parametrize(
    ("faults", "spans"),
    [
        ([], ()),
        ([fault(30, 31), fault(10, 12)], ((10 * S, 12 * S), (30 * S, 31 * S))),
        ([fault(10, 12), fault(11, 15), fault(14, 14.5)], ((10 * S, 15 * S),)),
        ([fault(10, 20), fault(11, 12)], ((10 * S, 20 * S),)),
        ([fault(10, 12), fault(12, 13)], ((10 * S, 12 * S), (12 * S, 13 * S))),
        ([fault(10, None), fault(12, 13)], ((10 * S, None),)),
        ([fault(10, 12), fault(11, None)], ((10 * S, None),)),
    ],
)
def test_faults_that_overlap_are_one_spell(
    faults: list[FaultRecord], spans: tuple[tuple[int, int | None], ...]
) -> None:
    """Overlapping faults are one period, adjacent ones two; a fault never healed takes all later ones."""
    assert FaultPeriods.of(faults, SETTINGS).spans == spans


@pytest.mark.parametrize(
    ("start_ns", "end_ns", "spell"),
    [
        (8 * S, 10 * S, None),
        (8 * S, 10 * S + 1, 0),
        (11 * S, 11 * S + 1, 0),
        (12 * S + 4 * ATTEMPT_NS - 1, 28 * S, 0),
        (12 * S + 4 * ATTEMPT_NS, 28 * S, None),
        (11 * S, 40 * S + 1, 1),
        (39 * S, 40 * S, None),
        (900 * S, 901 * S, 1),
    ],
)
def test_a_send_belongs_to_the_last_spell_that_may_have_touched_it(
    start_ns: int, end_ns: int, spell: int | None
) -> None:
    """A send belongs to the last period that may affect it, until 14 s after a heal at 12 s."""
    spells = FaultPeriods.of([fault(10, 12), fault(40, None)], SETTINGS)
    assert spells.lasting_ns == 4 * ATTEMPT_NS
    assert spells.at(start_ns, end_ns) == spell
    sends = np.array([start_ns]), np.array([end_ns])
    assert spells.at_many(*sends).tolist() == [-1 if spell is None else spell]
    assert FaultPeriods.of([], SETTINGS).at_many(*sends).tolist() == [-1]


def test_the_longer_of_both_kinds_of_retries_counts() -> None:
    """The larger number of retries counts: five synchronous ones are six attempts."""
    more = ClientSettings(send_msg_timeout_ms=500, retry_times_when_send_failed=5)
    assert FaultPeriods.of([], more).lasting_ns == 6 * ATTEMPT_NS


def test_a_killed_broker_stays_faulty() -> None:
    """A kill affects its own broker for ever."""
    killed = FaultReach.of_attempts([fault(100, None, FaultKind.KILL)], SETTINGS)
    assert killed.meets(900 * S, 901 * S, "broker-b") and killed.meets(900 * S, 901 * S)
    assert not killed.meets(900 * S, 901 * S, "broker-a")


@pytest.mark.parametrize(
    ("kind", "poll_ms", "healed_s"),
    [
        (FaultKind.MOVE, 1_000, 12),
        (FaultKind.MOVE, 4_000, 14),
        (FaultKind.MOVE, 30_000, 40),
        (FaultKind.KILL, 30_000, 12),
    ],
)
def test_a_moved_broker_is_dead_until_the_next_poll(kind: FaultKind, poll_ms: int, healed_s: int) -> None:
    """A move lasts a polling interval and 1 s longer for clients, less the 3 s for which every fault affects requests."""
    settings = ClientSettings(send_msg_timeout_ms=500, poll_name_server_interval_ms=poll_ms)
    met = as_clients_meet(fault(10, 12, kind), settings)
    assert (met.heal_ns, met.healed_ns) == (12 * S, healed_s * S)


@pytest.mark.parametrize("kind", [FaultKind.READ_ONLY, FaultKind.FLOW_CONTROL, FaultKind.KILL_SLAVE])
def test_faults_that_are_answered_cost_no_connection(kind: FaultKind) -> None:
    """A fault that the broker answers ends no attempt, but a send may meet it."""
    assert not FaultReach.of_attempts([fault(10, 12, kind)], SETTINGS).meets(11 * S, 12 * S, "broker-b")
    assert FaultReach.of_sends([fault(10, 12, kind)], SETTINGS).meets(11 * S, 12 * S)


@pytest.mark.parametrize(
    ("spans", "joined"),
    [
        ((), ()),
        (((3, 5), (1, 2)), ((1, 2), (3, 5))),
        (((1, 2), (2, 3)), ((1, 3),)),
        (((1, 9), (2, 3)), ((1, 9),)),
        (((1, 4), (3, 9)), ((1, 9),)),
        (((1, 2), (4, 6), (5, 9)), ((1, 2), (4, 9))),
        (((1, None), (2, 3)), ((1, None),)),
        (((1, 4), (2, None)), ((1, None),)),
        (((5, 2), (6, 7)), ((5, 5), (6, 7))),
    ],
)
def test_windows_that_overlap_or_touch_are_joined(spans: tuple[Span, ...], joined: tuple[Span, ...]) -> None:
    """Windows are sorted and joined; an open end takes all later ones, and none ends before it begins."""
    assert Windows.of(spans).spans == joined


def test_windows_hold_and_meet_instants() -> None:
    """A window is half-open, for instants and for intervals."""
    windows = Windows.of([(10, 20), (30, None)])
    assert windows.hold_many(np.array([9, 10, 19, 20, 29, 30, 99])).tolist() == [
        False,
        True,
        True,
        False,
        False,
        True,
        True,
    ]
    starts, ends = [5, 5, 19, 20, 20, 40], [10, 11, 21, 30, 31, 41]
    assert windows.meet_many(np.array(starts), np.array(ends)).tolist() == [False, True, True, False, True, True]
