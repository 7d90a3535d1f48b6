"""The set of hidden states is kept small without loss, or over-approximated; boxes are their uncertain times."""

from collections.abc import Iterable
from itertools import product

import pytest

from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.interval import bounds
from rocketdiff.oracle.producer.replay import replay_for
from rocketdiff.oracle.producer.states import transition
from rocketdiff.oracle.producer.states.belief import Box, _hull, _join, _union, settle_belief
from rocketdiff.oracle.producer.states.decision_point import decision_points_of
from rocketdiff.oracle.producer.states.hidden_state import OVER_MS, HiddenState
from rocketdiff.oracle.producer.states.uncertain import UncertainPublishInfo
from rocketmq_reference.rules.producer.attempt import Try
from tests.oracle.histories import history, routes
from tests.oracle.judging import signatures
from tests.oracle.states import DEMON, avoiding_state


def starts(states: list[HiddenState], *, now: int = 0, kept: int = 100) -> tuple[list[tuple[int, int]], bool]:
    belief = settle_belief(states, DEMON, now, complete=True, kept=kept)
    return [bounds(one.faults.items["a"].start_ms) for one in belief.states], belief.complete


@pytest.mark.parametrize(
    ("first", "second", "kept", "merged"),
    [
        ([(5, 6)], [(5, 6)], 100, [(5, 6)]),
        ([(5, 6)], [(7, 9)], 100, [(5, 9)]),
        ([(5, 6)], [(8, 9)], 100, [(5, 6), (8, 9)]),
        ([(5, 6)], [(8, 9)], 2, [(5, 6), (8, 9)]),
        ([(5, 9), (1, 4)], [(6, 7), (2, 3)], 100, [(5, 9)]),
        ([(5, 6)], [(8, 9)], 1, [(5, 9)]),
    ],
)
def test_states_are_merged(
    first: list[tuple[int, int]], second: list[tuple[int, int]], kept: int, merged: list[tuple[int, int]]
) -> None:
    """
    Equal states, touching intervals, and a state within another merge without loss; intervals with a gap stay apart.

    Too many states become their hull, which may contain more, and stay complete.
    """
    assert starts([avoiding_state(*first), avoiding_state(*second)], kept=kept) == (merged, True)


def test_states_that_differ_in_two_intervals_stay_apart() -> None:
    """States with two different intervals stay apart: their hull contains more."""
    assert len(starts([avoiding_state((5, 6), (1, 2)), avoiding_state((7, 9), (3, 4))])[0]) == 2


def test_the_hull_keeps_the_index() -> None:
    """The hull of states with equal indexes keeps the index."""
    belief = settle_belief([avoiding_state((5, 6)), avoiding_state((8, 9))], DEMON, 0, complete=True, kept=1)
    assert [one.thread_state(0).index.value for one in belief.states] == [0]


def test_indexes_and_times_are_made_vaguer_together_where_neither_is_enough() -> None:
    """If the hull of the times is not enough, the index becomes unknown."""
    two = [avoiding_state((5, 6)), avoiding_state((8, 9), index=5)]
    belief = settle_belief(two, DEMON, 0, complete=True, kept=1)
    assert [one.thread_state(0).index.value for one in belief.states] == [None]
    assert starts(two, kept=1) == ([(5, 9)], True)


def test_a_hundred_and_twenty_eight_states_are_kept() -> None:
    """128 states that cannot merge are kept; one more is dropped, and the belief is incomplete."""
    states = []
    for number in range(129):
        states.append(avoiding_state((5, 6)))
        states[-1].infos[1] = UncertainPublishInfo([(f"b{number}", 0)], {}, DEMON)
    few, many = (settle_belief(states[:most], DEMON, 0, complete=True) for most in (128, 129))
    assert [(len(one.states), one.complete) for one in (few, many)] == [(128, True), (128, False)]


def test_an_incomplete_belief_stays_incomplete() -> None:
    """An incomplete belief stays incomplete, with one or several states."""
    for states in ([avoiding_state((5, 6))], [avoiding_state((5, 6)), avoiding_state((8, 9))]):
        assert not settle_belief(states, DEMON, 0, complete=False).complete


def test_too_many_indexes_are_forgotten() -> None:
    """Too many indexes become unknown; the belief stays complete."""
    belief = settle_belief([avoiding_state((5, 6)), avoiding_state((8, 9), index=5)], DEMON, 0, complete=True, kept=1)
    assert ([one.thread_state(0).index.value for one in belief.states], belief.complete) == ([None], True)


def test_a_dropped_state_makes_a_belief_incomplete() -> None:
    """Of two different lists one is dropped, and the belief is incomplete."""
    other = avoiding_state((5, 6))
    other.infos[1] = UncertainPublishInfo([("b", 0)], {}, DEMON)
    belief = settle_belief([avoiding_state((5, 6)), other], DEMON, 0, complete=True, kept=1)
    assert (len(belief.states), belief.complete) == (1, False)


def test_avoidances_that_are_over_are_alike_where_they_are_only_extended() -> None:
    """From 5.1.4 on ended avoidances are equal; before, their order counts."""
    two = [avoiding_state((5, 6), release="5.3.3"), avoiding_state((8, 9), release="5.3.3")]
    assert starts(two, now=10) == ([(OVER_MS, OVER_MS)], True)
    assert len(starts([avoiding_state((5, 6)), avoiding_state((8, 9))], now=10)[0]) == 2


@pytest.mark.parametrize(("followed", "found"), [(8, ["queue.out-of-turn/first"]), (7, ["undecided"])])
def test_dropped_outcomes_leave_a_choice_undecided(
    followed: int, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With seven of eight outcomes followed, a wrong queue is undecided."""
    monkeypatch.setattr(transition, "WAYS_FOLLOWED", followed)
    assert signatures("5.3.3", "0 a0 1 | 20 a2 1 | 40 a3 1") == found


def test_dropped_runs_leave_a_choice_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """With four runs for eight outcomes, a wrong queue is undecided."""
    monkeypatch.setattr(transition, "RUNS_FOLLOWED", 4)
    assert signatures("5.3.3", "0 a1 1 | 20 a3 1") == ["undecided"]


def test_few_outcomes_are_followed_after_one_was_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """After outcomes were dropped, only two of eight are followed."""
    monkeypatch.setattr(transition, "WAYS_BEYOND", 2)
    replay = replay_for("5.3.3", ClientSettings(), routes("a4 b4"))
    (point, _) = decision_points_of(history("0 a1 1")[0], split=False)
    ways = []
    for replay.transitions.left_out in (False, True, True):
        outcomes = replay.transitions.every_outcome(replay.belief.states, point)
        ways.append([step.queue.queue_id for _, step in outcomes if isinstance(step, Try)])
    assert ways == [[1, 2, 3, 0, 1, 2, 3, 0], [1, 2], [1, 2]]


INTERVALS = [(lo, hi) for lo in range(3) for hi in range(lo, 3)]
WIDE = [(lo, hi) for lo in range(6) for hi in range(lo, 6)]


def points(*boxes: Box) -> set[tuple[int, ...]]:
    return {point for box in boxes for point in product(*(range(lo, hi + 1) for lo, hi in box))}


def around(*boxes: Box) -> Box:
    return [(min(lo for lo, _ in column), max(hi for _, hi in column)) for column in zip(*boxes, strict=True)]


def test_two_boxes_are_joined_where_the_box_around_them_has_no_other_point() -> None:
    """Two boxes merge if the box around them has no other point: all boxes of two times within 0–2."""
    boxes = [list(box) for box in product(INTERVALS, INTERVALS)]
    for one, other in product(boxes, boxes):
        smallest = around(one, other)
        expected = smallest if points(smallest) == points(one, other) else None
        assert _join(one, other) == expected, (one, other)


def test_of_three_times_the_one_that_differs_is_joined() -> None:
    """Boxes that differ in one of three times merge in that time."""
    for place in range(3):
        one, other, both = ([(7, 7), (8, 8), (9, 9)] for _ in range(3))
        one[place], other[place], both[place] = (1, 2), (3, 4), (1, 4)
        assert _join(one, other) == both


def merged(intervals: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the gapless runs of whole numbers in the intervals."""
    covered = sorted({number for lo, hi in intervals for number in range(lo, hi + 1)})
    starts = [number for number in covered if number - 1 not in covered]
    ends = [number for number in covered if number + 1 not in covered]
    return set(zip(starts, ends, strict=True))


def test_intervals_are_joined_until_nothing_fits_together() -> None:
    """All triples of intervals within 0–5, in every order, merge into their gapless runs."""
    for triple in product(WIDE, WIDE, WIDE):
        left = _union([[interval] for interval in triple])
        assert sorted(box[0] for box in left) == sorted(merged(triple)), triple


def test_the_hull_is_around_all() -> None:
    """The hull of boxes of two times contains them all."""
    assert _hull([[(1, 2), (5, 5)], [(0, 1), (7, 9)], [(1, 4), (6, 6)]]) == [(0, 4), (5, 9)]
