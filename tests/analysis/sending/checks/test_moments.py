"""When a client is slow: moments, medians and limits, on literal arrays."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from rocketdiff.analysis.sending.checks.results.moments import (
    SlowMoments,
    beside_faults,
    far_longer,
    least_ns,
    limit_ns,
    moment_ns,
    slow_moments,
    slowest_in_a_hundred,
)
from rocketdiff.analysis.sending.send_arrays import Sends
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from tests.analysis.builders import MS, S, fault

MINUTES_18 = 1_099_511_627_775
"""2 to the 40th less one, in ns: the longest duration that counts."""


def sends_of(
    due: Sequence[int], took: Sequence[int], well: Sequence[bool] = (), threads: int = 1, broker: Sequence[int] = ()
) -> Sends:
    """Sends that start when they are due, in ns; all of them went well, at broker-a, unless it is given."""
    times, size = np.array(due, dtype=np.int64), len(due)
    ends = times + np.array(took, dtype=np.int64)
    yes = np.ones(size, dtype=np.bool_)
    return Sends(
        number=np.arange(size), thread=np.arange(size) % threads, due=times, start=times, end=ends, free=ends, ended=yes,
        broker=np.array(broker or [0] * size), brokers=("broker-a", "broker-b"), went_well=np.array(well) if well else yes,
        waits=yes, is_oneway=~yes,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("every_ms", "sends", "threads", "moment", "least"),
    [
        (10, 400, 1, 250 * MS, 10 * MS),
        (51, 100, 1, 252_450_000, 10 * MS),  # 5 x 99 x 51 ms / 100
        (4, 11, 1, 250 * MS, 4 * MS),
        (4, 11, 2, 250 * MS, 8 * MS),
        (4, 11, 3, 250 * MS, 10 * MS),
        (4, 2, 1, 250 * MS, 4 * MS),
        (4, 1, 1, 250 * MS, 0),
    ],
)
def test_a_moment_and_the_least_delay_follow_from_the_plan(
    every_ms: int, sends: int, threads: int, moment: int, least: float
) -> None:
    """A moment has five sends, a quarter of a second at least; the least delay is a thread's period, 10 ms at most."""
    plan = sends_of([n * every_ms * MS for n in range(sends)], [MS] * sends, threads=threads)
    assert (moment_ns(plan), least_ns(plan)) == (moment, least)


@pytest.mark.parametrize(
    ("calm", "well", "limit"),
    [
        ([True] * 11, [True] * 11, 20.0),
        ([True] * 6 + [False] * 5, [True] * 11, 11.0),
        ([True] * 11, [True] * 6 + [False] * 5, 11.0),
        ([False] * 8 + [True] * 3, [True] * 11, 21.6),  # 10, 11 and 12 ms less one: nine in ten took 10.8
        ([False] * 9 + [True] * 2, [True] * 11, 20.0),
        ([True] * 11, [False] * 11, 10.0),
    ],
)
def test_the_limit_is_twice_what_nine_in_ten_sends_took(calm: list[bool], well: list[bool], limit: float) -> None:
    """Of three calm sends or more, else of all that went well; never below the least delay."""
    took = [n * MS + MS for n in range(11)]
    found = limit_ns(sends_of([n * 20 * MS for n in range(11)], took, well), np.array(calm))
    assert found / MS == pytest.approx(limit)


def test_times_that_are_far_longer() -> None:
    """Three times the quicker arm's slowest in a hundred, and the least delay; there is none of no sends."""
    assert slowest_in_a_hundred(np.arange(101)) == 99.0
    assert slowest_in_a_hundred(np.empty(0)) == 0.0
    assert far_longer([5.0, 3.0], 10.0) == 19.0


def moments_of(
    baseline: Sequence[tuple[int, int]], candidate: Sequence[tuple[int, int]], limit: float = 4
) -> SlowMoments:
    """Moments of 100 ns from 1,000 ns on; (begin, duration) in ns, those of a duration of 7 do not count."""
    timed = {}
    for arm, rows in ((Arm.BASELINE, baseline), (Arm.CANDIDATE, candidate)):
        at, took = (np.array([row[place] for row in rows], dtype=np.int64) for place in (0, 1))
        timed[arm] = at, took, took != 7
    return slow_moments(timed, limit, 100, 1_000)


@pytest.mark.parametrize(
    ("candidate", "begins", "medians", "slow"),
    [
        ([(1_000, 1), (1_050, 5), (1_099, 2)], [1_000], [2.0], []),
        ([(1_000, 10), (1_050, 10), (1_099, 10)], [1_000], [10.0], []),
        ([(1_000, 10), (1_050, 11), (1_099, 12)], [1_000], [11.0], [0]),
        ([(1_000, 1), (1_001, 4), (1_002, 9), (1_003, 5)], [1_000], [4.5], []),
        ([(1_000, 1), (1_050, 5), (1_100, 2)], [], [], []),
        ([(1_000, 1), (1_050, 5), (1_060, 7)], [], [], []),
        ([(1_100, 11)] * 3 + [(1_000, 2)] * 3, [1_000, 1_100], [2.0, 11.0], [1]),
        ([(1_200, 11)] * 3 + [(1_300, 2)] * 3, [1_200], [11.0], [0]),
        ([(1_000, 2_000 * S)] * 3, [1_000], [float(MINUTES_18)], [0]),
        ([], [], [], []),
    ],
)
def test_medians_of_moments(
    candidate: list[tuple[int, int]], begins: list[int], medians: list[float], slow: list[int]
) -> None:
    """A moment is compared that has three sends of either arm, and slow above three times the other's 2 ns and 4 ns more."""
    found = moments_of([(at, 2) for at in (1_000, 1_000, 1_000, 1_100, 1_100, 1_199, 1_250, 1_250, 1_250)], candidate)
    assert (found.begins_ns, found.medians[Arm.CANDIDATE]) == (begins, medians)
    assert (found.slow[Arm.CANDIDATE], found.slow[Arm.BASELINE]) == (slow, [])


def test_the_baseline_may_be_slow_too() -> None:
    """Both arms are compared with each other."""
    found = moments_of([(1_000, 11)] * 3 + [(1_100, 2)] * 3, [(1_000, 2)] * 3 + [(1_100, 12)] * 3)
    assert found.slow == {Arm.BASELINE: [0], Arm.CANDIDATE: [1]}


@pytest.mark.parametrize(
    ("slow", "other", "moments", "is_slower"),
    [
        (5, 0, 19, True),
        (4, 0, 12, False),
        (5, 0, 20, False),
        (6, 1, 20, True),
        (5, 1, 12, False),
        (10, 2, 20, False),
        (11, 2, 20, True),
    ],
)
def test_a_client_is_slower_in_many_moments(slow: int, other: int, moments: int, is_slower: bool) -> None:
    """In five at least, in over a quarter of them, and over five times as many as the other."""
    medians = [float(n) for n in range(moments)]
    found = SlowMoments(
        [n * 250 for n in range(moments)],
        {Arm.BASELINE: medians, Arm.CANDIDATE: [each * each for each in medians]},
        {Arm.BASELINE: range(other), Arm.CANDIDATE: range(1, 1 + slow)},
        250,
    )
    assert found.is_candidate_slower is is_slower
    assert found.slow_span_ns == (250, (slow + 1) * 250)
    assert found.worst == (float(slow), float(slow * slow))


@pytest.mark.parametrize(
    ("met", "is_beside"),
    [
        (fault(10 * S, 12 * S), (True, False)),
        (fault(10 * S, 12 * S, node="broker-a"), (False, True)),
        (fault(10 * S, 12 * S, FaultKind.KILL_SLAVE, "broker-a-slave-1"), (False, True)),
        (fault(10 * S, 12 * S, FaultKind.PAUSE_NAME_SERVER, "name-server-1"), (True, True)),
        (fault(5 * S, 10 * S + 1, node="broker-a"), (False, True)),
        (fault(5 * S, 10 * S, node="broker-a"), (True, True)),
        (fault(11 * S + 2 * MS - 1, None, node="broker-a"), (False, True)),
        (fault(11 * S + 2 * MS, None, node="broker-a"), (True, True)),
    ],
)
def test_sends_beside_a_fault(met: FaultRecord, is_beside: tuple[bool, bool]) -> None:
    """A send of 2 ms at 11 s is beside the faults of other brokers, and a second after its own broker's."""
    sends = sends_of([11 * S] * 3, [2 * MS] * 3, broker=[0, 1, -1])
    assert beside_faults(sends, [met]).tolist() == [*is_beside, False]


def test_no_send_by_a_proxy_is_beside_a_fault_of_a_broker() -> None:
    """A proxy passes messages to any broker; another proxy's fault does not concern it."""
    sends = replace(sends_of([11 * S] * 2, [2 * MS] * 2, broker=[0, 1]), brokers=("proxy-1", "broker-a"))
    assert beside_faults(sends, [fault(10 * S, 12 * S)]).tolist() == [False, True]
    assert beside_faults(sends, [fault(10 * S, 12 * S, FaultKind.KILL_PROXY, "proxy-2")]).tolist() == [True, True]


def test_the_worst_moment_has_the_largest_difference() -> None:
    """Not the longest times."""
    medians = {Arm.BASELINE: [1.0, 8.0], Arm.CANDIDATE: [10.0, 12.0]}
    assert SlowMoments([0, 100], medians, {Arm.BASELINE: [], Arm.CANDIDATE: [0, 1]}, 100).worst == (1.0, 10.0)
