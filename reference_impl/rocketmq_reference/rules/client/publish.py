"""
The publish list of a topic: the queues a producer selects from (TopicPublishInfo).

One list is shared by all threads; the generations to 5.1.3 may rewrite an element of it for good while selecting.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Self


class Queue(NamedTuple):
    """A queue of one broker; its topic is that of the list."""

    broker: str
    queue_id: int


class PublishInfo:
    """
    Queues in selection order, and write queues of each broker for the fallback.

    write_queues None stands for a list without route data, where Java's fallback meets a NullPointerException.
    """

    __slots__ = ("queues", "write_queues")

    def __init__(self, queues: Iterable[tuple[str, int]], write_queues: Mapping[str, int] | None = None) -> None:
        self.queues = [Queue(*queue) for queue in queues]
        self.write_queues = write_queues

    @classmethod
    def of(cls, queues: Iterable[tuple[str, int]]) -> Self:
        """A list whose write queue numbers are those seen in it."""
        info = cls(queues)
        counts: dict[str, int] = {}
        for queue in info.queues:
            counts[queue.broker] = counts.get(queue.broker, 0) + 1
        info.write_queues = counts
        return info

    def write_queues_of(self, broker: str) -> int:
        """Write queues of a broker, -1 if the route does not list it; TypeError without route data."""
        if self.write_queues is None:
            raise TypeError("no route data")
        return self.write_queues.get(broker, -1)

    def copy(self) -> Self:
        clone = type(self)((), self.write_queues)
        clone.queues = self.queues.copy()
        return clone


Pick = int | Queue
"""
A position in the shared list, or (4.9.8 only) a queue of its own.

A position is kept rather than a queue because another thread may rewrite the element between selection and retry.
"""


def picked_queue(info: PublishInfo, pick: Pick) -> Queue:
    """The queue a pick stands for right now."""
    return info.queues[pick] if isinstance(pick, int) else pick
