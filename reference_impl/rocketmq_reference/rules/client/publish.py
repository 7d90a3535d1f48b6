"""
The publish list of a topic: the queues that a producer selects from (TopicPublishInfo).

All threads share one list. Up to 5.1.3 a selection may permanently rewrite an element of it.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Self


class Queue(NamedTuple):
    """A queue of one broker; the list knows the topic."""

    broker: str
    queue_id: int


class PublishInfo:
    """
    Queues in selection order, and the number of write queues of each broker for the fallback.

    write_queues None: a list without route data, for which Java's fallback throws NullPointerException.
    """

    __slots__ = ("queues", "write_queues")

    def __init__(self, queues: Iterable[tuple[str, int]], write_queues: Mapping[str, int] | None = None) -> None:
        self.queues = [Queue(*queue) for queue in queues]
        self.write_queues = write_queues

    @classmethod
    def of(cls, queues: Iterable[tuple[str, int]]) -> Self:
        """Make a list whose write queue numbers are counted from its queues."""
        info = cls(queues)
        counts: dict[str, int] = {}
        for queue in info.queues:
            counts[queue.broker] = counts.get(queue.broker, 0) + 1
        info.write_queues = counts
        return info

    def write_queues_of(self, broker: str) -> int:
        """Return the number of write queues of a broker, -1 if the route does not list it; TypeError without route data."""
        if self.write_queues is None:
            raise TypeError("no route data")
        return self.write_queues.get(broker, -1)

    def rewrite(self, position: int, queue: Queue) -> None:
        """Rewrite an element in place, the broker before the queue id: another thread may read it in between."""
        self.queues[position] = self.queues[position]._replace(broker=queue.broker)
        self.queues[position] = self.queues[position]._replace(queue_id=queue.queue_id)

    def copy(self) -> Self:
        clone = type(self)((), self.write_queues)
        clone.queues = self.queues.copy()
        return clone


Pick = int | Queue
"""
A position in the shared list, or (4.9.8 only) a separate queue.

It is a position because another thread may rewrite the element at any time after the selection, so whoever sends reads it again
for the address, the hooks, the request and the result.
"""


def picked_queue(info: PublishInfo, pick: Pick) -> Queue:
    """Return the queue that a pick denotes now."""
    return info.queues[pick] if isinstance(pick, int) else pick
