"""
Offsets of a group that subscribes to some tags only: counted in the messages that it takes.

A member passes over the others, and what it remembers or commits may stand before or behind them: both are one place to go on
(DefaultMQPushConsumerImpl#correctTagsOffset). So an offset of the fed topic becomes the number of subscribed messages below it.
"""

import json
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rocketdiff.analysis.consuming.story import Delivery, Held, QueueOf

TAGS = "TAGS"


class Subscribed:
    """Of one case. held: the fed topic as it is; tags: none for all messages, whose offsets stay."""

    def __init__(self, held: "Mapping[QueueOf, Iterable[Held]]", tags: Collection[str]) -> None:
        self._tags = frozenset(tags)
        self._others = {(of, each.queue_offset) for of, own in held.items() for each in own if not self.takes(each)}
        self._own = {
            of: sorted(each.queue_offset for each in own if self.takes(each))
            for of, own in held.items()
            if any(place[0] == of for place in self._others)
        }

    def takes(self, held: "Held") -> bool:
        """Return True if the group subscribes to a message."""
        return not self._tags or json.loads(held.properties or "{}").get(TAGS) in self._tags

    def place(self, of: "QueueOf", offset: int) -> int:
        """Return an offset as a number of subscribed messages. None is below a negative one, which means something else."""
        return offset if offset < 0 or of not in self._own else bisect_left(self._own[of], offset)

    def held(self, held: "Mapping[QueueOf, tuple[Held, ...]]") -> "dict[QueueOf, tuple[Held, ...]]":
        """Return the messages that the group subscribes to."""
        return {
            of: tuple(replace(each, queue_offset=self.place(of, each.queue_offset)) for each in own if self.takes(each))
            for of, own in held.items()
        }

    def split(self, deliveries: "Iterable[Delivery]") -> "tuple[list[Delivery], list[Delivery]]":
        """Return the deliveries of subscribed messages, or of none that is stored, and the others."""
        own: list[Delivery] = []
        others: list[Delivery] = []
        for each in deliveries:
            if (each.queue, each.queue_offset) in self._others:
                others.append(each)
            else:
                own.append(replace(each, queue_offset=self.place(each.queue, each.queue_offset)))
        return own, others

    def rows(self, rows: Iterable[Mapping[str, Any]], of: Any, *names: str) -> Iterator[dict[str, Any]]:
        """Yield rows whose offsets, in the columns of these names, are places. of: returns a row's queue."""
        for row in rows:
            yield {**row} | {name: self.place(of(row), row[name]) for name in names if row[name] is not None}
