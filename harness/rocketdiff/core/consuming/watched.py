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
