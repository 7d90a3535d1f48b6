"""
A publish list of which it is not known whether brokers that have left it are still in the route.

Everything else about it is the reference's own publish list.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from rocketdiff.oracle.choices import ChoiceExplorer
from rocketmq_reference.rules.client.publish import PublishInfo


def write_queues_in(queues: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Write queues of each broker of a list that a route gave: it has all of a broker's, or none."""
    counts: dict[str, int] = {}
    for broker, _ in queues:
        counts[broker] = counts.get(broker, 0) + 1
    return counts


class UncertainPublishInfo(PublishInfo):
    """
    Asks the explorer about a broker that other lists of the trace have and this one has not, and keeps to the answer.

    TopicPublishInfo.getQueueIdByBroker of 4.x reads the route, not the list: a broker that may not be written to, or that has
    lost its master, is in the route still, one that was unregistered is not. A trace shows lists only.
    """

    __slots__ = ("answered", "elsewhere", "explorer")

    def __init__(
        self, queues: Sequence[tuple[str, int]], elsewhere: Mapping[str, int], explorer: ChoiceExplorer
    ) -> None:
        """elsewhere: write queues of every broker of any list."""
        super().__init__(queues, write_queues_in(queues))
        self.elsewhere = elsewhere
        self.explorer = explorer
        self.answered: dict[str, int] = {}

    def write_queues_of(self, broker: str) -> int:
        listed = super().write_queues_of(broker)
        if listed > 0 or broker not in self.elsewhere:
            return listed
        if broker not in self.answered:
            self.answered[broker] = self.elsewhere[broker] if self.explorer.choose(2) else listed
        return self.answered[broker]

    def copy(self) -> Self:
        clone = type(self)((), self.elsewhere, self.explorer)
        clone.queues = self.queues.copy()
        clone.write_queues = self.write_queues
        clone.answered = self.answered.copy()
        return clone
