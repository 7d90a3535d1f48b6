"""Names of a case about consumers: topics and groups, and the places where brokers are asked about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.plan import PlannedQueue
from rocketdiff.core.consuming.watched import GroupTopics, TopicKind
from rocketmq_reference.rules.java import hash_order

_BUCKETS = 16
"""Of a new ConcurrentHashMap."""

_TRIES = 100
"""One topic in sixteen is in the last bucket, and no group's retry topic comes after it."""

LETTERS = {Arm.BASELINE: "b", Arm.CANDIDATE: "c"}


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
        return _drawn(self.prefix)[0]

    @property
    def warm(self) -> str:
        return f"{self.prefix}-warm"

    @property
    def feeder_warm(self) -> str:
        return f"{self.prefix}-feeder-warm"

    @property
    def groups(self) -> Mapping[Arm, GroupTopics]:
        return _drawn(self.prefix)[1]

    def instance(self, arm: Arm, member: int) -> str:
        """Of equal length in a group, so that ids are sorted as numbers are."""
        return f"{self.prefix}-{LETTERS[arm]}-m{member}"

    def warm_group(self, arm: Arm, member: int) -> str:
        """Each member's own, so that each gets all warm messages."""
        return f"{self.groups[arm].group}-w{member}"

    def named(self, queue: PlannedQueue) -> tuple[str, int]:
        """Return broker and id of a queue; the letters of a scenario are the brokers in the order of their names."""
        return self.brokers[ord(queue.broker) - ord("a")], queue.queue_id

    def assigned(self, plan: Sequence[Sequence[PlannedQueue]]) -> tuple[tuple[tuple[str, int], ...], ...]:
        """Return broker and id of the queues of each member."""
        return tuple(tuple(map(self.named, queues)) for queues in plan)

    def queues_of(self, arm: Arm) -> Iterator[tuple[TopicKind, str, str, int]]:
        """Yield kind, topic, broker and queue id of each queue of an arm's group."""
        topics = self.groups[arm]
        for broker in self.brokers:
            yield from ((TopicKind.FED, topics.fed, broker, queue_id) for queue_id in range(self.queues))
            yield TopicKind.RETRY, topics.retry, broker, 0


@lru_cache(maxsize=64)
def _drawn(prefix: str) -> tuple[str, Mapping[Arm, GroupTopics]]:
    """
    Return a topic, and groups of whose topics a rebalance takes it first.

    It goes through them in the order of a ConcurrentHashMap, and a paused broker makes that order visible.
    """
    for number in range(_TRIES):
        fed = f"{prefix}-fed{number:02d}"
        groups = {arm: group for arm, letter in LETTERS.items() if (group := _group(prefix, letter, fed)) is not None}
        if len(groups) == len(Arm):
            return fed, groups
    raise AssertionError(f"no topic of {prefix} comes before the retry topics of {_TRIES} groups")


def _group(prefix: str, letter: str, fed: str) -> GroupTopics | None:
    names = (f"{prefix}-{letter}{number:02d}".replace(".", "-") for number in range(_TRIES))
    made = (GroupTopics(name, fed) for name in names)
    return next((each for each in made if _is_first(fed, each.retry)), None)


def _is_first(fed: str, retry: str) -> bool:
    return hash_order([retry, fed], buckets=_BUCKETS, concurrent=True)[0] == fed
