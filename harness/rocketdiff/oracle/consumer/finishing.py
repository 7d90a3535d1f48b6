"""
How far a member has come in one queue: the least offset that is possibly, and the least that is certainly, not finished.

A member remembers the least offset that it has pulled and not finished, so its value is between the two. A message is finished
when its call has succeeded, or has failed and the message is handed back. The client notes that a little after the call's end, so
an instant of finishing is an interval.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, count, takewhile
from typing import NamedTuple

from rocketdiff.core.units import NS_PER_S

PROCESSED_NS = NS_PER_S
"""A client remembers a result at once; on a busy machine its thread may wait for a core."""

UNWRITTEN_NS = NS_PER_S
"""Records of a process that is killed may be lost for so long before; some 10 ms were seen."""

BOTH_WAYS_NS = 8 * NS_PER_S
"""Longest time of a hand-back: 5 s for the broker, 3 s for the client's own send (constants of every release)."""

LOCAL_RETRY_NS = 5 * NS_PER_S
"""If both ways failed, the member consumes the message again after this time, and it was not finished meanwhile."""


class Call(NamedTuple):
    """
    A message in a call of a member's listener. end_ns: None if the call never ended.

    may_stay: a fault may have met both ways of its hand-back. held_ns: how much later its client may take note, because its process was
    paused, or its offset counts with a later poll only.
    """

    offset: int
    end_ns: int | None
    has_failed: bool = False
    may_stay: bool = False
    held_ns: int = 0

    @property
    def finished_ns(self) -> int | None:
        """When it is finished for certain, if the member does not consume it again."""
        if self.end_ns is None:
            return None
        if not self.has_failed:
            return self.end_ns + self.held_ns + PROCESSED_NS
        return self.end_ns + self.held_ns + BOTH_WAYS_NS + (LOCAL_RETRY_NS + PROCESSED_NS if self.may_stay else 0)


@dataclass(frozen=True)
class Progress:
    """
    A member's work on one queue, from the offset ``first`` on. No slots, because its views are cached.

    until_ns: when it gave the queue up, None if it did not; results of later calls are thrown away. calls: in the order of their
    starts. updates: instants and values that the client itself reports to remember. killed_ns: of its process, whose last records
    are then lost; had: the offset behind the last message that it may have had by then. before: what it worked on until its
    application went to ``first``; before_until_ns: until when it may still remember that.
    """

    first: int
    until_ns: int | None
    calls: tuple[Call, ...]
    updates: tuple[tuple[int, int], ...] = ()
    killed_ns: int | None = None
    had: int = 0
    before: "Progress | None" = None
    before_until_ns: int = 0

    def most_at(self, at_ns: int) -> int:
        """Return the greatest offset that the member may remember at an instant (ns)."""
        if self.before is not None and at_ns <= self.before_until_ns:
            return max(self._most_at(at_ns), self.before.most_at(at_ns))
        return self._most_at(at_ns)

    def _most_at(self, at_ns: int) -> int:
        most = self.first + bisect_right(self._possible, at_ns)
        is_unseen = self.killed_ns is not None and at_ns >= self.killed_ns - UNWRITTEN_NS
        return max(most, self.had) if is_unseen else most

    def least_at(self, at_ns: int) -> int:
        """Return the least offset that the member may remember at an instant (ns)."""
        if self.before is not None and at_ns <= self.before_until_ns:
            return min(self._least_at(at_ns), self.before.least_at(at_ns))
        return self._least_at(at_ns)

    def _least_at(self, at_ns: int) -> int:
        known = bisect_right(self._update_times, at_ns)
        finished = self.first + bisect_right(self._certain, at_ns)
        return max(finished, self._greatest_updates[known - 1]) if known else finished

    @cached_property
    def _by_offset(self) -> dict[int, list[Call]]:
        found: defaultdict[int, list[Call]] = defaultdict(list)
        for call in self.calls:
            found[call.offset].append(call)
        return found

    @cached_property
    def _possible(self) -> list[int]:
        """By offset from ``first`` on: when it and all before it were possibly finished."""
        return _risen(self._possibly_finished(self._by_offset.get(offset, ())) for offset in count(self.first))

    @cached_property
    def _certain(self) -> list[int]:
        return _risen(_certainly_finished(self._by_offset.get(offset, ())) for offset in count(self.first))

    def _possibly_finished(self, calls: Iterable[Call]) -> int | None:
        ends = [call.end_ns for call in calls if call.end_ns is not None]
        if self.until_ns is not None:
            ends = [end_ns for end_ns in ends if end_ns <= self.until_ns]
        return min(ends, default=None)

    @cached_property
    def _update_times(self) -> list[int]:
        return [at_ns for at_ns, _ in self.updates]

    @cached_property
    def _greatest_updates(self) -> list[int]:
        return list(accumulate((value for _, value in self.updates), max))


def _certainly_finished(calls: Iterable[Call]) -> int | None:
    """Return when a message was finished; a call that failed says so only if none came after it."""
    last: Call | None = None
    for last in calls:
        if last.end_ns is not None and not last.has_failed:
            break
    return None if last is None else last.finished_ns


def _risen(finished_ns: Iterable[int | None]) -> list[int]:
    """Return, up to the first unfinished offset, the greatest instant so far."""
    known = takewhile(lambda at_ns: at_ns is not None, finished_ns)
    return list(accumulate((at_ns for at_ns in known if at_ns is not None), max))
