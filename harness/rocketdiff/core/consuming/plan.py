"""The group of consumers that each arm has: its members, its listener, and what the listener does with which message."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

_MEMBER = re.compile(r"-m(\d+)(?:-warm)?(?:@STREAM)?$")


class ListenerKind(StrEnum):
    """
    The client's two listeners: messages of a queue in parallel, or one after the other; or none: its application polls.

    LITE_PULL: one thread polls, and works on what a poll hands out before it polls again.
    """

    CONCURRENT = "concurrent"
    ORDERLY = "orderly"
    LITE_PULL = "lite-pull"


class MessageModel(StrEnum):
    """Each message to one member of the group, or to each."""

    CLUSTERING = "clustering"
    BROADCASTING = "broadcasting"


class Allocation(StrEnum):
    """
    The client's strategies that divide the queues of a topic among the members.

    NEARBY: averagely within machine rooms: a broker is in the room of its letter, the members are in rooms a and b in turn.
    """

    AVG = "avg"
    CIRCLE = "circle"
    HASH = "hash"
    NEARBY = "nearby"


STRATEGY_NAMES: Mapping[Allocation, str] = MappingProxyType(
    {
        Allocation.AVG: "AVG",
        Allocation.CIRCLE: "AVG_BY_CIRCLE",
        Allocation.HASH: "CONSISTENT_HASH",
        Allocation.NEARBY: "MACHINE_ROOM_NEARBY-AVG",
    }
)
"""What each strategy calls itself (AllocateMessageQueueStrategy#getName)."""


def room_of_broker(name: str) -> str:
    """Return the machine room of a broker, for the strategy NEARBY; the Java driver has the same rule."""
    return name[-1:]


def room_of_member(client_id: str) -> str:
    """Return the machine room of a member by its number in the client id: ``…-m0`` is in a, ``…-m1`` in b."""
    found = _MEMBER.search(client_id)
    return "ab"[int(found[1]) % 2] if found else ""


class Mix(StrEnum):
    """Which members of the candidate's group run the baseline. ALTERNATE: 1, 3 and 5."""

    NONE = "none"
    ALTERNATE = "alternate"


class Commits(StrEnum):
    """
    Who commits what lite pull consumers poll.

    AUTO: a later poll, as is the default. SYNC: the application, after its work on each poll (commitSync).
    """

    AUTO = "auto"
    SYNC = "sync"


class PlannedQueue(NamedTuple):
    """A queue of the fed topic. broker: its letter."""

    broker: str
    queue_id: int

    def __str__(self) -> str:
        return f"{self.broker}/{self.queue_id}"


class ListenerOutcome(StrEnum):
    """How a call of the listener ends. LATER: of an orderly listener, to suspend the queue; ACK_INDEX: success up to a message."""

    SUCCESS = "success"
    LATER = "later"
    THROW = "throw"
    NULL = "null"
    COMMIT = "commit"
    ROLLBACK = "rollback"
    ACK_INDEX = "ack-index"


@dataclass(frozen=True, slots=True)
class ListenerRule:
    """
    What the listener does with message n if n mod ``every`` is ``offset`` and its reconsume times are below ``tries``.

    The first rule that applies decides, so the outcome depends on number and reconsume times alone.
    """

    rule: int
    every: int
    tries: int
    outcome: ListenerOutcome
    offset: int = 0
    delay_level: int | None = None
    suspend_ms: int | None = None
    work_ms: int | None = None


class MemberChange(StrEnum):
    """What a member does, or what is done to its process, at a time of the script."""

    JOIN = "join"
    LEAVE = "leave"
    KILL = "kill"
    PAUSE = "pause"


@dataclass(frozen=True, slots=True)
class MemberEvent:
    """An event of a member, in both arms at the same instant. at_s: after the first due send; for_s: of a pause."""

    at_s: float
    member: int
    change: MemberChange
    for_s: float | None = None

    @property
    def end_s(self) -> float:
        """When it is over."""
        return self.at_s + (self.for_s or 0.0)

    def __str__(self) -> str:
        lasts = "" if self.for_s is None else f" for {self.for_s:g} s"
        return f"{self.change} {self.member} at {self.at_s:g} s{lasts}"


class ConsumerCall(StrEnum):
    """What an application asks of its lite pull consumer besides polls, by the names of the client's methods."""

    SEEK = "seek"
    SEEK_TO_BEGIN = "seek_to_begin"
    SEEK_TO_END = "seek_to_end"
    PAUSE = "pause"
    RESUME = "resume"

    @property
    def is_seek(self) -> bool:
        return self not in (ConsumerCall.PAUSE, ConsumerCall.RESUME)


@dataclass(frozen=True, slots=True)
class ApplicationEvent:
    """A call of a member's application about one queue, between two polls. offset: of a seek."""

    at_s: float
    member: int
    call: ConsumerCall
    queue: PlannedQueue
    offset: int | None = None

    def __str__(self) -> str:
        place = "" if self.offset is None else f" to {self.offset}"
        return f"{self.call} {self.queue}{place} by {self.member} at {self.at_s:g} s"


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """
    The group of each arm.

    work_ms: on a message without a rule. settings, properties: those that a scenario names (``core.tables.consumer_settings``);
    the client has its own defaults of all others. drain_s: longest wait after the last send and heal for the group to catch up.
    members: at the start, numbered from 0. membership: events by time. tags: that it subscribes to, none for all messages. assign: the
    queues of each member by number, which its application assigns to it instead of a subscription; none if the members share them.
    application: calls of the members' applications, by time.
    """

    members: int
    listener: ListenerKind
    model: MessageModel = MessageModel.CLUSTERING
    allocation: Allocation = Allocation.AVG
    rules: tuple[ListenerRule, ...] = ()
    work_ms: int = 0
    settings: Mapping[str, int | str] = field(default_factory=dict)
    properties: Mapping[str, int] = field(default_factory=dict)
    drain_s: float = 20.0
    membership: tuple[MemberEvent, ...] = ()
    mix: Mix = Mix.NONE
    commits: Commits = Commits.AUTO
    tags: tuple[str, ...] = ()
    assign: tuple[tuple[PlannedQueue, ...], ...] = ()
    application: tuple[ApplicationEvent, ...] = ()

    @property
    def expression(self) -> str | None:
        """The subscription as a client takes it; None for every message."""
        return " || ".join(self.tags) or None

    @property
    def mixed(self) -> tuple[int, ...]:
        """Members of the candidate's group that run the baseline."""
        return tuple(range(1, self.processes, 2)) if self.mix is Mix.ALTERNATE else ()

    @property
    def processes(self) -> int:
        """Number of members that are ever there."""
        return max(self.members, *(event.member + 1 for event in self.membership), 1)

    @property
    def remaining(self) -> tuple[int, ...]:
        """Members that are there after the last event."""
        there = set(range(self.members))
        for event in self.membership:
            if event.change is not MemberChange.PAUSE:
                (there.add if event.change is MemberChange.JOIN else there.discard)(event.member)
        return tuple(sorted(there))

    def is_last_of(self, event: MemberEvent) -> bool:
        """Return True if no event of this member follows."""
        return event is [each for each in self.membership if each.member == event.member][-1]

    @property
    def polls(self) -> bool:
        """True for lite pull consumers, whose messages count as consumed when a poll hands them out."""
        return self.listener is ListenerKind.LITE_PULL

    @property
    def has_retry_topic(self) -> bool:
        """True if the members subscribe to it."""
        return self.model is MessageModel.CLUSTERING and not self.polls

    @property
    def has_failing_rule(self) -> bool:
        return any(rule.outcome is not ListenerOutcome.SUCCESS for rule in self.rules)

    @property
    def returns_messages(self) -> bool:
        """Whether a failed message goes back to the brokers; an orderly group keeps it, up to the retries of its settings."""
        is_kept = self.listener is ListenerKind.ORDERLY and "max_reconsume_times" not in self.settings
        return self.has_failing_rule and not is_kept

    @property
    def longest_work_ms(self) -> int:
        """Longest time of the listener for one message."""
        return max((rule.work_ms or 0 for rule in self.rules), default=0) + self.work_ms
