"""
How far a fault reaches: from its first doubtful instant to its heal, and as long after it as what it met may still last.

In: the faults of a case. Out: whether something that ran from here to there may have gone as it did because of one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from rocketdiff.core.fault import COST_NO_CONNECTION, FaultRecord
from rocketdiff.core.settings import ClientSettings

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
        return any(
            fault.inject_ns < until_ns and (fault.healed_ns is None or start_ns < fault.healed_ns + self.lasting_ns)
            for fault in self.faults
            if broker is None or fault.node == broker
        )


def _attempt_ns(settings: ClientSettings) -> int:
    return settings.send_msg_timeout_ms * 1_000_000 + _SCAN_NS
