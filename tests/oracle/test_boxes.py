"""Boxes (uncertain times of equal states) merge without loss, compared with all their points."""

from collections.abc import Iterable
from itertools import product

from rocketdiff.oracle.producer.states.belief import Box, _hull, _join, _union

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
