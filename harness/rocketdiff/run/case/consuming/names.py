"""Names of a case about consumers: topics and groups, and the places where brokers are asked about them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import GroupTopics, TopicKind
from rocketmq_reference.rules.java import hash_order

_BUCKETS = 16
"""Of a new ConcurrentHashMap."""

_LETTERS = {Arm.BASELINE: "b", Arm.CANDIDATE: "c"}


@dataclass(frozen=True, slots=True)
class CaseNames:
    """
    Names of one case. Clients refuse a group with a dot.

    prefix: beginning of every name. brokers: names; queues: of the fed topic at each broker; a retry topic has one.
    """

    prefix: str
    brokers: tuple[str, ...]
    queues: int

    @property
    def fed(self) -> str:
        return f"{self.prefix}-fed"

    @property
    def warm(self) -> str:
        return f"{self.prefix}-warm"

    @property
    def feeder_warm(self) -> str:
        return f"{self.prefix}-feeder-warm"

    @property
    def groups(self) -> Mapping[Arm, GroupTopics]:
        return {arm: _group(self.prefix, letter, self.fed) for arm, letter in _LETTERS.items()}

    def instance(self, arm: Arm, member: int) -> str:
        """Of equal length in a group, so that ids are sorted as numbers are."""
        return f"{self.prefix}-{_LETTERS[arm]}-m{member}"

    def warm_group(self, arm: Arm, member: int) -> str:
        """Each member's own, so that each gets all warm messages."""
        return f"{self.groups[arm].group}-w{member}"

    def queues_of(self, arm: Arm) -> Iterator[tuple[TopicKind, str, str, int]]:
        """Yield kind, topic, broker and queue id of each queue of an arm's group."""
        topics = self.groups[arm]
        for broker in self.brokers:
            yield from ((TopicKind.FED, topics.fed, broker, queue_id) for queue_id in range(self.queues))
            yield TopicKind.RETRY, topics.retry, broker, 0


@lru_cache(maxsize=64)
def _group(prefix: str, letter: str, fed: str) -> GroupTopics:
    """
    Return a group of whose topics a rebalance takes the fed one first.

    It goes through them in the order of a ConcurrentHashMap, and a paused broker makes that order visible.
    """
    names = (f"{prefix}-{letter}{number:02d}".replace(".", "-") for number in range(100))
    made = (GroupTopics(name, fed) for name in names)
    return next(each for each in made if hash_order([each.retry, fed], buckets=_BUCKETS, concurrent=True)[0] == fed)
