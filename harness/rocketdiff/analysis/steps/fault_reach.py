"""
How far a fault reaches: from its first doubtful instant to its heal, and as long after it as what it met may still last.

In: the faults of a case. Out: whether something that ran from one instant to another may have been affected by one
(``FaultReach``); and the number of the fault period that may have touched a send, none in calm (``FaultPeriods``).
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from rocketdiff.core.tables.fault import COST_NO_CONNECTION, FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.topology import may_meet

_SCAN_NS = 3_000_000_000
"""
How much later than its timeout an asynchronous request is found to be over: a second of grace, a second from scan to scan,
a second before the first. As long as a connection may take to fail, too.
"""


@dataclass(frozen=True, slots=True)
class FaultReach:
    """
    The faults and the span of time one thing under their influence may last, in ns.

    Bounds both ways: what began longer after a heal has nothing to do with the fault, and what was only given up long
    after it should have been over does not meet the faults of that time.
    """

    faults: tuple[FaultRecord, ...]
    lasting_ns: int

    @classmethod
    def of_attempts(cls, faults: Iterable[FaultRecord], settings: ClientSettings) -> Self:
        """Of faults that may end a request without an answer, for one attempt."""
        return cls(tuple(fault for fault in faults if fault.kind not in COST_NO_CONNECTION), _attempt_ns(settings))

    @classmethod
    def of_sends(cls, faults: Iterable[FaultRecord], settings: ClientSettings) -> Self:
        """Of all faults, for an asynchronous send with all its retries."""
        attempts = 1 + settings.retry_times_when_send_async_failed
        return cls(tuple(faults), attempts * _attempt_ns(settings))

    def meets(self, start_ns: int, end_ns: int, broker: str | None = None) -> bool:
        """Whether it may have been under the influence of a fault; broker: of one of this broker."""
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
    Periods of faults of any kind that overlap, which are one cause and so one unit of counting.

    spans: from the first injection to the last heal, None if never healed.

    lasting_ns: how long a send may last, and so how long after a heal one is not in calm.
    """

    spans: tuple[tuple[int, int | None], ...]
    lasting_ns: int
    _begins_ns: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_begins_ns", tuple(begin_ns for begin_ns, _ in self.spans))

    @classmethod
    def of(cls, faults: Sequence[FaultRecord], settings: ClientSettings) -> Self:
        """In order of time."""
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
        """Number of the last period that may have touched a send; None in calm."""
        number = bisect_left(self._begins_ns, end_ns) - 1
        if number < 0:
            return None
        healed_ns = self.spans[number][1]
        return number if healed_ns is None or start_ns < healed_ns + self.lasting_ns else None
