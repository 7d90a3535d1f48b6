"""
Offsets of a group that subscribes to some tags only: counted in the messages that it takes.

A member passes over the others, and what it remembers or commits may stand before or behind them: both are one place to go on
(DefaultMQPushConsumerImpl#correctTagsOffset). So an offset of the fed topic becomes the number of subscribed messages below it.
"""

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable

from rocketdiff.core.sends.message import TAGS


class Subscribed:
    """Of one case. held: queue, offset and properties of each message of the fed topic; tags: none for all messages, whose offsets stay."""

    def __init__(self, held: Iterable[tuple[Hashable, int, str | None]], tags: Collection[str]) -> None:
        self._tags = frozenset(tags)
        self._own: defaultdict[Hashable, list[int]] = defaultdict(list)
        self._others: set[tuple[Hashable, int]] = set()
        for of, offset, properties in held:
            if self._takes(properties):
                self._own[of].append(offset)
            else:
                self._others.add((of, offset))
        self._filtered = {of for of, _ in self._others}

    @property
    def has_everything(self) -> bool:
        """True if every stored message is for the group, so that every offset stays."""
        return not self._others

    def _takes(self, properties: str | None) -> bool:
        return not self._tags or json.loads(properties or "{}").get(TAGS) in self._tags

    def takes(self, of: Hashable, offset: int) -> bool:
        """Return False for a stored message that the group does not subscribe to."""
        return (of, offset) not in self._others

    def place(self, of: Hashable, offset: int) -> int:
        """Return the number of subscribed messages below an offset; a negative one means something else, and stays."""
        return offset if offset < 0 or of not in self._filtered else bisect_left(self._own[of], offset)
