"""
Which spell of faults may have touched a send: faults of all kinds that overlap are one cause, hence one unit of counting.

In: the faults of a case. Out: for a send, the number of its spell, or none in calm.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from rocketdiff.analysis.steps.fault_reach import FaultReach
from rocketdiff.core.fault import FaultRecord
from rocketdiff.core.settings import ClientSettings


@dataclass(frozen=True, slots=True)
class FaultSpells:
    """
    Faults that overlap in time, as they are one cause: from their first injection to their last heal, None for never.

    lasting_ns: how long a send may last, and so how long after a heal one is not in calm.
    """

    spans: tuple[tuple[int, int | None], ...]
    lasting_ns: int

    @classmethod
    def of(cls, faults: Sequence[FaultRecord], settings: ClientSettings) -> Self:
        """In order of time."""
        spans: list[tuple[int, int | None]] = []
        for fault in sorted(faults, key=lambda one: one.inject_ns):
            if spans and (spans[-1][1] is None or fault.inject_ns < spans[-1][1]):
                began_ns, last_ns = spans.pop()
                ends = [end for end in (last_ns, fault.healed_ns) if end is not None]
                spans.append((began_ns, max(ends) if len(ends) > 1 else None))
            else:
                spans.append((fault.inject_ns, fault.healed_ns))
        attempts = 1 + max(settings.retry_times_when_send_failed, settings.retry_times_when_send_async_failed)
        return cls(tuple(spans), attempts * FaultReach.of_attempts(faults, settings).lasting_ns)

    def at(self, start_ns: int, end_ns: int) -> int | None:
        """Number of the last spell that may have touched a send; None in calm."""
        number = next((n for n in reversed(range(len(self.spans))) if self.spans[n][0] < end_ns), None)
        if number is None:
            return None
        healed_ns = self.spans[number][1]
        return number if healed_ns is None or start_ns < healed_ns + self.lasting_ns else None
