"""
Bounds of the offset that a group has committed for one queue, over time.

Above: what some member may have remembered by then. Below: what every member that may have written last remembered for certain at
the group's last certain write. A member writes at least once in every interval of persisting plus what its one scheduling thread
may be late, and when it gives the queue up or leaves. A write counts for nothing if its broker was down, and a killed broker forgets
what it had not yet flushed. A pull that was sent just before a member's last write may be read after it, by another of the broker's
threads, and then writes what was finished when it was sent. Two members that own a queue at once overwrite each other: a broker refuses no lower value.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rocketdiff.core.units import NS_PER_S
from rocketdiff.oracle.consumer.finishing import Progress

FIRST_PERSIST_NS = 10 * NS_PER_S
"""A client persists first this long after its start, then once in an interval (MQClientInstance.startScheduledTask)."""

TRANSIT_NS = NS_PER_S
"""From a one-way write to its effect at a running broker, on a busy machine."""

SETTLED_NS = 5 * NS_PER_S
"""One-way writes wait in the sockets of a broker that was down, and may be read in another order for a moment."""

FLUSH_NS = 6 * NS_PER_S
"""A broker flushes committed offsets every 5 s (flushConsumerOffsetInterval), on a busy machine a second late."""


@dataclass(frozen=True, slots=True)
class Tenure:
    """
    A member's work on the queue, from ``from_ns`` to ``until_ns`` (None: to the end of the watch).

    persists_ns: since when the member persists, ``FIRST_PERSIST_NS`` after its start. writes_at_end: it gave the queue up or left, and
    was not killed. frozen: pauses of its process, in which it writes nothing.
    """

    from_ns: int
    until_ns: int | None
    persists_ns: int
    progress: Progress
    writes_at_end: bool = True
    frozen: tuple["Down", ...] = ()


@dataclass(frozen=True, slots=True)
class Down:
    """A broker that could not read writes from from_ns on; until_ns: None if it never came back. forgets: it was killed."""

    from_ns: int
    until_ns: int | None
    forgets: bool = False

    @property
    def unsafe_from_ns(self) -> int:
        """Since when writes before the fault may have been lost."""
        return self.from_ns - (FLUSH_NS if self.forgets else TRANSIT_NS)

    def hides(self, from_ns: int, to_ns: int) -> bool:
        """True if a write between two instants may have had no effect."""
        return self.unsafe_from_ns <= to_ns and (self.until_ns is None or from_ns <= self.until_ns + SETTLED_NS)


class Bounds(NamedTuple):
    """Least and greatest offset that may be committed at an instant. A group that has committed nothing has 0."""

    least: int
    most: int


class Committed:
    """
    One queue of one group.

    tenures: in the order of their beginnings. downs: faults of the queue's broker by time. every_ns: interval of persisting, with
    what the client's scheduling thread may be late.
    """

    def __init__(self, tenures: Sequence[Tenure], downs: Sequence[Down], every_ns: int) -> None:
        self._tenures = tenures
        self._downs = tuple(downs)
        self._every_ns = every_ns

    def along(self, instants: Iterable[int]) -> Iterator[Bounds]:
        """Yield the bounds at rising instants (ns), in one walk over the tenures."""
        begun, open_, most = 0, list[Tenure](), 0
        for at_ns in instants:
            while begun < len(self._tenures) and self._tenures[begun].from_ns <= at_ns:
                open_.append(self._tenures[begun])
                begun += 1
            written_ns = self._last_write_ns(open_, at_ns)
            most = max(most, *(each.progress.most_at(at_ns) for each in open_), 0)
            yield Bounds(_least(open_, written_ns), most)
            if written_ns is not None:  # never earlier at a later instant, since all faults are known
                open_ = [each for each in open_ if each.until_ns is None or each.until_ns >= written_ns]

    def _last_write_ns(self, tenures: Iterable[Tenure], at_ns: int) -> int | None:
        """Return an instant whose certain values had been written, by some member, and read; None if there is none."""
        known = (self._written_ns(each, at_ns) for each in tenures)
        return max((each for each in known if each is not None), default=None)

    def _written_ns(self, tenure: Tenure, at_ns: int) -> int | None:
        until_ns = at_ns - TRANSIT_NS
        if tenure.until_ns is not None and tenure.until_ns <= until_ns:
            until_ns = tenure.until_ns
            if tenure.writes_at_end and not self._hidden(tenure, until_ns, until_ns):
                return max(tenure.from_ns, until_ns - TRANSIT_NS)
        while (from_ns := until_ns - self._every_ns) >= max(tenure.from_ns, tenure.persists_ns):
            down = self._hidden(tenure, from_ns, until_ns)
            if down is None:
                return from_ns
            until_ns = down.unsafe_from_ns - 1
        return None

    def _hidden(self, tenure: Tenure, from_ns: int, to_ns: int) -> Down | None:
        """Return a fault that may have hidden a write of a member in an interval, or in which it wrote none."""
        return next((each for each in (*self._downs, *tenure.frozen) if each.hides(from_ns, to_ns)), None)


def _least(tenures: Iterable[Tenure], written_ns: int | None) -> int:
    """Return the least certain value of a tenure that may have written since."""
    if written_ns is None:
        return 0
    writers = (each for each in tenures if each.until_ns is None or each.until_ns >= written_ns)
    return min(each.progress.least_at(written_ns) for each in writers)
