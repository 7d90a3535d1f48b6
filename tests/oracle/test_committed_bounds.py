"""What may be committed for a queue over time: worked out by hand, in seconds."""

from collections.abc import Sequence

import pytest

from rocketdiff.core.units import NS_PER_S
from rocketdiff.oracle.consumer.committed import FIRST_PERSIST_NS, Bounds, Committed, Down, Tenure
from rocketdiff.oracle.consumer.finishing import Call, Progress

EVERY_S = 8
"""An interval of 5 s, and 3 s that the client's thread may be late."""


def ns(at_s: float) -> int:
    return int(at_s * NS_PER_S)


def calls(first: int, *ends_s: float | None) -> tuple[Call, ...]:
    """Calls with one message each, at rising offsets."""
    return tuple(Call(first + place, None if end is None else ns(end)) for place, end in enumerate(ends_s))


def tenure(
    from_s: float, until_s: float | None, first: int, *ends_s: float | None, writes: bool = True, join_s: float = -20
) -> Tenure:
    until_ns = None if until_s is None else ns(until_s)
    progress = Progress(first, until_ns, calls(first, *ends_s))
    return Tenure(ns(from_s), until_ns, ns(join_s) + FIRST_PERSIST_NS, progress, writes)


def bounds(tenures: Sequence[Tenure], at_s: Sequence[float], downs: Sequence[Down] = ()) -> list[tuple[int, int]]:
    committed = Committed(tenures, downs, ns(EVERY_S))
    return [(each.least, each.most) for each in committed.along(map(ns, at_s))]


EACH_SECOND = tuple(range(60))
"""Ends of calls: offset n ends at n seconds."""


@pytest.mark.parametrize(
    ("call", "finished_s"),
    [
        (Call(0, ns(10)), 11),
        (Call(0, None), None),
        (Call(0, ns(10), has_failed=True), 18),
        (Call(0, ns(10), has_failed=True, may_stay=True), 24),
        (Call(0, ns(10), held_ns=ns(3)), 14),
        (Call(0, ns(10), has_failed=True, held_ns=ns(3)), 21),
        (Call(0, ns(10), has_failed=True, may_stay=True, held_ns=ns(3)), 27),
    ],
)
def test_when_a_call_is_finished_for_certain(call: Call, finished_s: float | None) -> None:
    """A success after a second; a failure when both ways of its hand-back are over, and no local retry can come any more."""
    assert call.finished_ns == (None if finished_s is None else ns(finished_s))


@pytest.mark.parametrize(
    ("ends_s", "at_s", "expected"),
    [
        ((1, 2, 3), 0.5, (0, 0)),
        ((1, 2, 3), 2.5, (1, 2)),
        ((1, 2, 3), 9, (3, 3)),
        ((3, 1, 2), 2.5, (0, 0)),
        ((3, 1, 2), 3, (0, 3)),
        ((1, None, 3), 9, (1, 1)),
    ],
)
def test_a_member_remembers_the_least_unfinished_offset(
    ends_s: tuple[float | None, ...], at_s: float, expected: tuple[int, int]
) -> None:
    """The least offset not finished: a call that is under way holds back all that come after it."""
    progress = Progress(0, None, calls(0, *ends_s))
    assert (progress.least_at(ns(at_s)), progress.most_at(ns(at_s))) == expected


def test_results_after_giving_up_are_thrown_away() -> None:
    """A call that ends when its queue is given up is never finished."""
    assert Progress(5, ns(2), calls(5, 1, 3)).most_at(ns(9)) == 6


def test_a_client_that_reports_its_updates_is_taken_at_its_word() -> None:
    """An update raises what is certain, before the second that a result may take."""
    progress = Progress(0, None, calls(0, 1, 2, 3), updates=((ns(1.1), 1), (ns(2.1), 2)))
    assert [progress.least_at(ns(at_s)) for at_s in (1.05, 1.2, 2.2)] == [0, 1, 2]


def test_a_message_that_fails_again_is_finished_after_its_last_call() -> None:
    """A local retry holds the offset back until it has succeeded."""
    again = (Call(0, ns(1), has_failed=True, may_stay=True), Call(0, ns(8)))
    progress = Progress(0, None, again)
    assert [progress.least_at(ns(at_s)) for at_s in (8.5, 9)] == [0, 1]
    assert [progress.most_at(ns(at_s)) for at_s in (0.5, 1)] == [0, 1]


@pytest.mark.parametrize(("had", "expected"), [(7, [2, 7, 7]), (1, [2, 2, 2])])
def test_the_last_records_of_a_killed_member_are_lost(had: int, expected: list[int]) -> None:
    """From a second before the kill on it may remember whatever it may have had."""
    progress = Progress(0, None, calls(0, 1, 2), killed_ns=ns(10), had=had)
    assert [progress.most_at(ns(at_s)) for at_s in (8.999, 9, 10)] == expected
    assert Progress(0, None, (), killed_ns=ns(10)).most_at(ns(10)) == 0


@pytest.mark.parametrize(
    ("first", "until_s", "expected"),
    [
        pytest.param(20, 30, [(20, 40), (21, 40), (23, 24)], id="back"),
        pytest.param(20, 0, [(20, 20), (21, 22), (23, 24)], id="back, and what was before is forgotten at once"),
        pytest.param(50, 30, [(40, 50), (40, 52), (53, 54)], id="forward"),
    ],
)
def test_after_a_seek_a_member_remembers_what_was_before_for_a_while(
    first: int, until_s: float, expected: list[tuple[int, int]]
) -> None:
    """Offsets 0 to 39 are finished, then the application goes to another; calls from there end at 27, 28, 31 and 32 s."""
    before = Progress(0, ns(26), calls(0, *EACH_SECOND[:1] * 40))
    progress = Progress(first, None, calls(first, 27, 28, 31, 32), before=before, before_until_ns=ns(until_s))
    assert [(progress.least_at(ns(at_s)), progress.most_at(ns(at_s))) for at_s in (26.5, 28.5, 32)] == expected


def test_in_calm_the_bounds_follow_with_one_interval() -> None:
    """Least: finished at an interval and a write before; most: calls that have ended."""
    alone = tenure(-5, None, 0, *EACH_SECOND)
    assert bounds([alone], (5, 20, 40)) == [(0, 6), (11, 21), (31, 41)]


def test_nothing_is_certain_before_the_first_persisting() -> None:
    """A client persists first ten seconds after its start."""
    late = tenure(0, None, 0, *EACH_SECOND, join_s=0)
    assert bounds([late], (18, 19, 20)) == [(0, 19), (10, 20), (11, 21)]


def test_a_queue_that_is_given_up_is_committed() -> None:
    """What had been finished for a second is committed then; a killed member leaves what its last interval wrote."""
    given_up = tenure(-5, 20, 0, *EACH_SECOND)
    killed = tenure(-5, 20, 0, *EACH_SECOND, writes=False)
    assert bounds([given_up], (22, 50)) == [(19, 21), (19, 21)], "a pull of the second before may be read after it"
    assert bounds([killed], (22, 50)) == [(12, 21), (12, 21)]


def test_a_paused_broker_has_not_read_what_came_meanwhile() -> None:
    """While it is down, and until an interval after it has settled, only what was written before counts."""
    alone, down = tenure(-5, None, 0, *EACH_SECOND), Down(ns(20), ns(30))
    assert [least for least, _ in bounds([alone], (20, 30, 44, 46), [down])] == [10, 10, 10, 37]


def test_a_killed_broker_forgets_what_it_had_not_flushed() -> None:
    """Six seconds of writes may be gone."""
    alone, down = tenure(-5, None, 0, *EACH_SECOND), Down(ns(20), ns(30), forgets=True)
    assert [least for least, _ in bounds([alone], (30, 44, 46), [down])] == [5, 5, 37]


def test_two_owners_overwrite_each_other() -> None:
    """While two members own a queue, the lower of what they remember may be committed, and the higher."""
    first = tenure(-5, 30, 0, *EACH_SECOND)
    second = tenure(20, None, 12, None)
    assert bounds([first, second], (29, 60)) == [(12, 30), (12, 31)]


def test_a_short_tenure_does_not_lift_the_bound() -> None:
    """A member that had a queue for two seconds may have committed its first offset."""
    before = tenure(-5, 10, 0, *EACH_SECOND)
    short = Tenure(ns(12), ns(14), ns(-10), Progress(5, ns(14), calls(5, 13)), writes_at_end=False)
    assert bounds([before, short], (20,)) == [(5, 11)]


def test_a_tenure_counts_from_its_first_instant() -> None:
    """The member may remember the offset it begins with."""
    assert bounds([tenure(3, None, 5)], (2, 3)) == [(0, 0), (0, 5)]


def test_a_tenure_that_ended_at_the_last_write_may_have_written_since() -> None:
    """The next member's last write at 20 s is that instant."""
    former = tenure(-5, 20, 0, *EACH_SECOND, writes=False)
    assert bounds([former, tenure(20, None, 30, None)], (29, 29)) == [(20, 30), (20, 30)]


def test_a_message_finished_just_before_a_write_that_was_read_is_committed() -> None:
    """The last interval before the pause ends a nanosecond before a write may have been lost."""
    alone = tenure(-5, None, 0, *range(10), 10 - 1e-9)
    assert bounds([alone], (20,), [Down(ns(20), ns(30))]) == [(11, 11)]


def test_two_faults_that_overlap_hide_all_writes_since_the_first() -> None:
    """In either order of their ends."""
    alone = tenure(-5, None, 0, *EACH_SECOND)
    for faults in ([Down(ns(20), ns(30)), Down(ns(25), ns(40))], [Down(ns(20), ns(40)), Down(ns(25), ns(30))]):
        assert [least for least, _ in bounds([alone], (44,), faults)] == [10]


def test_a_group_that_owned_nothing_may_have_nothing() -> None:
    """Before the first tenure nothing is committed."""
    assert list(Committed([], [], ns(EVERY_S)).along([ns(5)])) == [Bounds(0, 0)]
