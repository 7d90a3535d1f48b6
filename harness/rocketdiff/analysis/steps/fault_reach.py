"""The time in which a fault may affect requests: from its first doubtful instant until the requests it met are over."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from rocketdiff.core.tables.fault import COST_NO_CONNECTION, FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.topology import may_meet

_SCAN_NS = 3_000_000_000
"""
How late an asynchronous request may be found timed out: 1 s of grace, 1 s between scans, 1 s before the first scan. A
connection may take as long to fail.
"""


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
            is_then = fault.inject_ns < until_ns and (fault.healed_ns is None or since_ns < fault.healed_ns)
            if is_then and (broker is None or may_meet(fault.node, broker)):
                return True
        return False


def _attempt_ns(settings: ClientSettings) -> int:
    return settings.send_msg_timeout_ms * 1_000_000 + _SCAN_NS


@dataclass(frozen=True, slots=True)
class FaultPeriods:
    """
    Periods of overlapping faults of any kind: one cause each, and so one unit of counting.

    spans: first injection to last heal, None if never healed. lasting_ns: how long a send may last; calm begins that
    long after a heal.
    """

    spans: tuple[tuple[int, int | None], ...]
    lasting_ns: int
    _begins_ns: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_begins_ns", tuple(begin_ns for begin_ns, _ in self.spans))

    @classmethod
    def of(cls, faults: Sequence[FaultRecord], settings: ClientSettings) -> Self:
        spans: list[tuple[int, int | None]] = []
        for fault in sorted(faults, key=lambda fault: fault.inject_ns):
            if spans and (spans[-1][1] is None or fault.inject_ns < spans[-1][1]):
                began_ns, last_ns = spans.pop()
                ends = [end for end in (last_ns, fault.healed_ns) if end is not None]
                spans.append((began_ns, max(ends) if len(ends) > 1 else None))
            else:
                spans.append((fault.inject_ns, fault.healed_ns))
        attempts = 1 + max(settings.retry_times_when_send_failed, settings.retry_times_when_send_async_failed)
        return cls(tuple(spans), attempts * FaultReach.of_attempts(faults, settings).lasting_ns)

    def at(self, start_ns: int, end_ns: int) -> int | None:
        """Number of the last period that may have affected a send; None in calm."""
        number = bisect_left(self._begins_ns, end_ns) - 1
        if number < 0:
            return None
        healed_ns = self.spans[number][1]
        return number if healed_ns is None or start_ns < healed_ns + self.lasting_ns else None
