"""The lanes that ``Order`` compares, as arrays: messages of one thread and key in one queue."""

from dataclasses import dataclass

import numpy as np

from rocketdiff.analysis.case_trace import integers
from rocketdiff.analysis.sending.columns.arm_columns import ArmColumns, Ints, Mask, place_of
from rocketdiff.analysis.sending.columns.stored_columns import StoredColumns

_LARGEST = 1 << 62
_PLACE_BITS = 32


@dataclass(frozen=True, slots=True)
class OrderLanes:
    """
    The lanes (thread, key, queue) of one arm.

    By view: rises, its message lies after all earlier ones of its lane; follows, an earlier one of its lane is at home. The other
    arrays hold the messages at home, sorted by lane and view.
    """

    rises: Mask
    follows: Mask
    _columns: ArmColumns
    _of_view: Ints
    _lanes: Ints
    _views: Ints

    def before(self, view: int, broker: int, queue_id: int) -> tuple[int, int] | None:
        """Send and offset of the last message at home before this view's message in a queue, or None."""
        lane = _lane(self._of_view[view], place_of(np.array(broker), np.array(queue_id)))
        first, last = np.searchsorted(self._lanes, lane), np.searchsorted(self._lanes, lane, side="right")
        place = int(first + np.searchsorted(self._views[first:last], view)) - 1
        if place < first:
            return None
        found = int(self._views[place])
        return int(self._columns.sends[found]), int(self._columns.queue_offset[found])


def order_lanes(columns: ArmColumns, stored: StoredColumns) -> OrderLanes | None:
    """Return the lanes of an arm; None if key numbers or offsets are too large to encode a lane in one number."""
    _, keys = np.unique(columns.argument, return_inverse=True)
    of_view = np.asarray(columns.threads * (int(keys.max(initial=0)) + 1) + keys, dtype=np.int64)
    rows = np.flatnonzero(stored.views >= 0)
    views = stored.views[rows]
    places = place_of(stored.broker, integers(stored.table.column("queue_id")))[rows]
    offsets = integers(stored.table.column("queue_offset"))[rows]
    if int(of_view.max(initial=0)) >= _LARGEST >> _PLACE_BITS:
        return None
    lanes = _lane(of_view[views], places)
    order = np.lexsort((offsets, views, lanes))
    lanes, views, offsets = lanes[order], views[order], offsets[order]
    begins = np.ones(lanes.size, dtype=np.bool_)
    begins[1:] = lanes[1:] != lanes[:-1]
    number = np.cumsum(begins) - 1
    lowest = int(offsets.min(initial=0))
    width = int(offsets.max(initial=0)) - lowest + 2
    if width > _LARGEST // (number.size + 1):
        return None
    # Lanes are stacked in disjoint ranges of values, so one running maximum serves all of them.
    heights = number * width + (offsets - lowest)
    is_higher = np.zeros(lanes.size, dtype=np.bool_)
    is_higher[1:] = np.maximum.accumulate(heights)[:-1] < heights[1:]
    at_home = (columns.simple & stored.at_home)[views]
    all_homes: Ints = np.cumsum(at_home) - at_home
    has_home = all_homes > all_homes[begins][number]
    rises, follows = np.zeros(columns.keys.size, dtype=np.bool_), np.zeros(columns.keys.size, dtype=np.bool_)
    rises[views[at_home]] = (begins | (is_higher & has_home))[at_home]
    follows[views[at_home]] = has_home[at_home]
    return OrderLanes(rises, follows, columns, of_view, lanes[at_home], views[at_home])


def _lane(of_view: Ints, places: Ints) -> Ints:
    return np.asarray((of_view << _PLACE_BITS) | places, dtype=np.int64)
