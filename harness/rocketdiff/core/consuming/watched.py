"""What the runner orders members to do, and what it sees of their groups from outside; lines of the journals of a case."""

from dataclasses import dataclass
from enum import StrEnum

from rocketdiff.core.arm import Arm


class TopicKind(StrEnum):
    """What a topic is to a group."""

    FED = "fed"
    RETRY = "retry"
    DEAD = "dead"
    OTHER = "other"


RETRY_PREFIX, DEAD_PREFIX = "%RETRY%", "%DLQ%"
"""MixAll.RETRY_GROUP_TOPIC_PREFIX and DLQ_GROUP_TOPIC_PREFIX of every release."""


IDS_EVERY = 4
"""The ids of a group are asked for in every fourth round of questions to a broker."""


@dataclass(frozen=True, slots=True)
class GroupTopics:
    """The topics of one group: the one that it consumes, and those that its failed messages are put into."""

    group: str
    fed: str

    @property
    def retry(self) -> str:
        return RETRY_PREFIX + self.group

    @property
    def dead(self) -> str:
        return DEAD_PREFIX + self.group

    def kind(self, topic: str) -> TopicKind:
        known = {self.fed: TopicKind.FED, self.retry: TopicKind.RETRY, self.dead: TopicKind.DEAD}
        return known.get(topic, TopicKind.OTHER)


RESUME = "resume"
"""End of a pause; the other words of an order are those of ``MemberChange``."""


@dataclass(frozen=True, slots=True)
class OrderedMember:
    """
    An event of a member, planned for ``at_ns`` (0: at once).

    what: join, leave; kill, pause, resume of its process. ordered_ns: when the line was written, or just before the signal was
    sent. proven_ns: when the effect of a signal was seen; None if it was not.
    """

    arm: Arm
    member: int
    incarnation: int
    what: str
    at_ns: int
    ordered_ns: int
    proven_ns: int | None = None


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """
    A broker's answer to a question for the group's offset of a queue, and where the queue ends.

    poll: number of the round of questions to this broker, the same in both arms. answered_ns, value, end: None without an answer.
    """

    arm: Arm
    poll: int
    asked_ns: int
    kind: TopicKind
    broker: str
    queue_id: int
    answered_ns: int | None = None
    value: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class ListedMembers:
    """A broker's answer to a question for the members of the group. code: of an error; ids: with repetitions, as it answers."""

    arm: Arm
    poll: int
    broker: str
    asked_ns: int
    answered_ns: int | None = None
    code: int | None = None
    ids: tuple[str, ...] = ()


class WireEvent(StrEnum):
    """What a member sent, or got without asking; END: its connection ended."""

    PULL = "pull"
    QUERY = "query"
    COMMIT = "commit"
    BY_TIME = "by-time"
    LIMIT = "limit"
    IDS = "ids"
    NOTIFY = "notify"
    LOCK = "lock"
    UNLOCK = "unlock"
    HEARTBEAT = "heartbeat"
    UNREGISTER = "unregister"
    BACK = "back"
    END = "end"


@dataclass(frozen=True, slots=True)
class WireExchange:
    """
    A request of a member, with its answer, as its relay saw them; a lock of several queues is one for each.

    number: in the order of arrival. node: the server; broker: that of the queue, or the node's own. in_ns, out_ns: arrived, and
    passed on; answered_ns: when the answer was passed on. code: of the answer. offset: of a pull or commit, or of an answer.
    commit_offset: of a pull that commits. next_offset, suggested (broker id): from a pull's answer; count: of its messages, or 1
    for a queue that was locked and 0 for one that was not; first_offset, last_offset: of these messages.
    """

    arm: Arm
    member: int
    number: int
    connection: int
    node: str
    what: WireEvent
    in_ns: int
    out_ns: int | None = None
    answered_ns: int | None = None
    code: int | None = None
    topic: str | None = None
    broker: str | None = None
    queue_id: int | None = None
    offset: int | None = None
    commit_offset: int | None = None
    next_offset: int | None = None
    first_offset: int | None = None
    last_offset: int | None = None
    count: int | None = None
    suggested: int | None = None
    ids: tuple[str, ...] | None = None
