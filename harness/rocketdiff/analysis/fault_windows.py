"""
When a fault concerns something that has a beginning and an end; for one case after another, and for arrays of them (``…_many``).

A fault counts from ``inject_ns``, the first instant in which it may be in force, to ``healed_ns``, the first in which it is over;
``heal_ns`` between them is the last in which it is certainly in force. A fault that was never healed has no end. Faults of a
``CaseTrace`` are as clients meet them.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from rocketdiff.core.tables.fault import COST_NO_CONNECTION, FaultKind, FaultRecord
from rocketdiff.core.tables.settings import LEARNT_LATE_S, REQUEST_SCAN_S, ClientSettings
from rocketdiff.core.tables.topology import may_meet
from rocketdiff.core.units import NS_PER_MS, NS_PER_S

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

Span = tuple[int, int | None]
"""Begin and end in ns, half-open; an end of None is open."""

FOREVER_NS = np.iinfo(np.int64).max
"""End of an open span in an array."""


_REQUEST_SCAN_NS = int(REQUEST_SCAN_S * NS_PER_S)
"""How late a request may be found timed out; a connection may take as long to fail."""


def learnt_after_ns(settings: ClientSettings) -> int:
    """How long after a broker is back at another address a client may not know it: until its next poll of the route."""
    return settings.poll_name_server_interval_ms * NS_PER_MS + int(LEARNT_LATE_S * NS_PER_S)


def as_clients_meet(fault: FaultRecord, settings: ClientSettings) -> FaultRecord:
    """
    Return a fault with the end that clients meet: a moved broker is dead for a client until it knows the new address.

    Less the time for which every fault affects requests after its end (``FaultReach``).
    """
    if fault.kind is not FaultKind.MOVE or fault.healed_ns is None:
        return fault
    return replace(fault, healed_ns=fault.healed_ns + max(0, learnt_after_ns(settings) - _REQUEST_SCAN_NS))


def first_fault_ns(faults: Iterable[FaultRecord]) -> int | None:
    """Return when the first fault may have begun; None without faults."""
    return min((fault.inject_ns for fault in faults), default=None)


def touches(fault: FaultRecord, start_ns: int, end_ns: int) -> bool:
    """True if a fault may have been in force in part of an interval."""
    return fault.inject_ns < end_ns and (fault.healed_ns is None or start_ns < fault.healed_ns)


def outlasts(fault: FaultRecord, since_ns: int, start_ns: int, end_ns: int) -> bool:
    """True if a fault, in force from ``since_ns`` on, was certainly in force during all of an interval."""
    return start_ns >= since_ns and (fault.heal_ns is None or end_ns <= fault.heal_ns)


def overlapping(faults: Iterable[FaultRecord]) -> list[list[FaultRecord]]:
    """Return groups of faults of which each overlaps another of its group; faults that only touch stay apart."""
    groups: list[list[FaultRecord]] = []
    for fault in sorted(faults, key=lambda fault: fault.inject_ns):
        if groups and any(other.healed_ns is None or fault.inject_ns < other.healed_ns for other in groups[-1]):
            groups[-1].append(fault)
        else:
            groups.append([fault])
    return groups


def end_of(ends_ns: Sequence[int | None]) -> int | None:
    """Return the last of several ends; None if one is open."""
    known = [end_ns for end_ns in ends_ns if end_ns is not None]
    return max(known) if len(known) == len(ends_ns) else None


@dataclass(frozen=True, slots=True)
class Windows:
    """Sorted spans; those that overlap or touch were joined, so one binary search answers for all."""

    spans: tuple[Span, ...]
    _begins_ns: Ints = field(init=False, repr=False, compare=False)
    _ends_ns: Ints = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        begins, ends = ([span[side] for span in self.spans] for side in (0, 1))
        object.__setattr__(self, "_begins_ns", np.array([*begins, FOREVER_NS], dtype=np.int64))
        closed = [FOREVER_NS if end is None else end for end in ends]
        object.__setattr__(self, "_ends_ns", np.array(closed, dtype=np.int64))

    @classmethod
    def of(cls, spans: Iterable[Span]) -> Self:
        joined: list[Span] = []
        for begin, end in sorted(spans, key=lambda span: span[0]):
            last = joined[-1][1] if joined else None
            if joined and (last is None or begin <= last):
                joined[-1] = joined[-1][0], None if last is None or end is None else max(last, end)
            else:
                joined.append((begin, None if end is None else max(begin, end)))
        return cls(tuple(joined))

    @classmethod
    def of_faults(cls, faults: Iterable[FaultRecord]) -> Self:
        """From the first to the last instant in which a fault may have been in force."""
        return cls.of((fault.inject_ns, fault.healed_ns) for fault in faults)

    def hold_many(self, instants_ns: Ints) -> Mask:
        """True for each instant in a window."""
        return np.asarray(self._begins_ns[np.searchsorted(self._ends_ns, instants_ns, side="right")] <= instants_ns)

    def meet_many(self, starts_ns: Ints, ends_ns: Ints) -> Mask:
        """True for each interval that a window overlaps."""
        return np.asarray(self._begins_ns[np.searchsorted(self._ends_ns, starts_ns, side="right")] < ends_ns)


@dataclass(frozen=True, slots=True)
class FaultReach:
    """
    Faults, and the time (ns) that one operation affected by them may last.

    An operation is unaffected by faults healed longer than this before its start, and by faults injected longer than
    this after it, when it should have been over.
    """

    faults: tuple[FaultRecord, ...]
    lasting_ns: int

    @classmethod
    def of_attempts(cls, faults: Iterable[FaultRecord], settings: ClientSettings) -> Self:
        """For one attempt: faults that may end a request without an answer."""
        return cls(tuple(fault for fault in faults if fault.kind not in COST_NO_CONNECTION), _attempt_ns(settings))

    @classmethod
    def of_sends(cls, faults: Iterable[FaultRecord], settings: ClientSettings) -> Self:
        """For an asynchronous send with all its retries: all faults."""
        attempts = 1 + settings.retry_times_when_send_async_failed
        return cls(tuple(faults), attempts * _attempt_ns(settings))

    def meets(self, start_ns: int, end_ns: int, broker: str | None = None) -> bool:
        """True if a fault (of this broker, if given) may have affected the interval."""
        until_ns = min(end_ns, start_ns + self.lasting_ns)
        since_ns = start_ns - self.lasting_ns
        for fault in self.faults:
            if touches(fault, since_ns, until_ns) and (broker is None or may_meet(fault.node, broker)):
                return True
        return False


def _attempt_ns(settings: ClientSettings) -> int:
    return settings.send_msg_timeout_ms * 1_000_000 + _REQUEST_SCAN_NS


@dataclass(frozen=True, slots=True)
class FaultPeriods:
    """
    Periods of overlapping faults of any kind: one cause each, and so one unit of counting.

    spans: first injection to last heal. lasting_ns: how long a send may last; calm begins that long after a heal.
    """

    spans: tuple[Span, ...]
    lasting_ns: int
    _begins_ns: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_begins_ns", tuple(begin_ns for begin_ns, _ in self.spans))

    @classmethod
    def of(cls, faults: Sequence[FaultRecord], settings: ClientSettings) -> Self:
        spans = ((group[0].inject_ns, end_of([fault.healed_ns for fault in group])) for group in overlapping(faults))
        attempts = 1 + max(settings.retry_times_when_send_failed, settings.retry_times_when_send_async_failed)
        return cls(tuple(spans), attempts * FaultReach.of_attempts(faults, settings).lasting_ns)

    def at(self, start_ns: int, end_ns: int) -> int | None:
        """Number of the last period that may have affected a send; None in calm."""
        number = bisect_left(self._begins_ns, end_ns) - 1
        if number < 0:
            return None
        healed_ns = self.spans[number][1]
        return number if healed_ns is None or start_ns < healed_ns + self.lasting_ns else None

    def hold_many(self, starts_ns: Ints, ends_ns: Ints) -> Mask:
        """True for each send for which ``at`` is not None."""
        return np.asarray(self.at_many(starts_ns, ends_ns) >= 0)

    def at_many(self, starts_ns: Ints, ends_ns: Ints) -> Ints:
        """``at`` for each send; -1 in calm."""
        if not self.spans:
            return np.full(starts_ns.size, -1, dtype=np.int64)
        over = [FOREVER_NS if end_ns is None else end_ns + self.lasting_ns for _, end_ns in self.spans]
        at = np.searchsorted(np.array(self._begins_ns, dtype=np.int64), ends_ns, side="left") - 1
        return np.where(starts_ns < np.array(over, dtype=np.int64)[at], at, -1)
