"""
Who works on which queue by the rules: each member's share of a topic, given the ids that the group's members see.

Ids may repeat: then the shares of the repeated places belong to nobody.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from rocketdiff.core.consuming.plan import STRATEGY_NAMES, Allocation, room_of_broker, room_of_member
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.allocation import (
    STRATEGIES,
    AllocationError,
    Strategy,
    ids_in_java_order,
    in_java_order,
    nearby,
)

_KNOWN: Mapping[str, Strategy] = {
    **STRATEGIES,
    STRATEGY_NAMES[Allocation.NEARBY]: nearby(
        STRATEGIES[STRATEGY_NAMES[Allocation.AVG]], lambda queue: room_of_broker(queue.broker), room_of_member
    ),
}
"""By the name that a client reports; rooms are those of the scenarios' plan."""

Place = tuple[str, int]
"""Broker and queue id."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic with its queues, and the strategy, by the name that clients report, that divides them."""

    name: str
    queues: tuple[Place, ...]
    strategy: str

    @property
    def is_known(self) -> bool:
        """True if the rules have the strategy."""
        return self.strategy in _KNOWN

    def share(self, ids: Iterable[str], own: str) -> tuple[Place, ...] | None:
        """Return the share of the member ``own``, None if it throws; ids, queues: in any order."""
        queues = in_java_order(Queue(*queue) for queue in self.queues)
        try:
            return tuple(_KNOWN[self.strategy](self.name, queues, ids_in_java_order(ids), own))
        except AllocationError:  # ids or queues are lacking
            return None

    def owners(self, ids: Collection[str]) -> Mapping[Place, str]:
        """Return the owner of each queue that has one."""
        return {queue: one for one in set(ids) for queue in self.share(ids, one) or ()}
