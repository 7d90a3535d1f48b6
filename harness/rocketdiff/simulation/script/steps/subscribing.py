"""The steps of a whole push consumer: its start and its end, what is stored for it, and how its listener ends."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from rocketdiff.simulation.script.steps.process_queue import Bytes
from rocketdiff.simulation.script.steps.sending import QueueOf
from rocketdiff.simulation.script.vocabulary import BrokerName, Ms, Natural, QueueId


class Then(StrEnum):
    """How a call of the listener ends."""

    LATER = "later"
    THROW = "throw"
    NONE = "none"
    SUCCESS = "success"


@dataclass(frozen=True, slots=True)
class ListenerRule:
    """
    Of every so many offsets, the message with this remainder fails so many times.

    then: the status that asks for the message again, an exception, no status, or success nevertheless. level: the delay level that the
    call asks for; of a queue that is consumed in order, the ms until the next call. works_ms: how long the call lasts.
    """

    every: Annotated[int, Field(ge=1, le=1_000_000)]
    offset: Natural = 0
    tries: Annotated[int, Field(ge=0, le=100)] = 1
    then: Then = Then.LATER
    level: Annotated[int, Field(ge=-1, le=100_000)] | None = None
    works_ms: Ms = 0


class Model(StrEnum):
    """Whether a message is for one member of the group, or for each."""

    CLUSTERING = "clustering"
    BROADCASTING = "broadcasting"


class ListenerKind(StrEnum):
    """Whether a queue's messages are consumed in order."""

    CONCURRENT = "concurrent"
    ORDERLY = "orderly"


@dataclass(frozen=True, slots=True)
class Join:
    """
    Starts the consumer, a push consumer after its shutdown once more: prints whether its start failed.

    Without a rule every message succeeds.
    unknown_topic: subscribes also to a topic that no name server knows. listener, model: of all such steps of a script the same. tags:
    the expression of the subscription. max_reconsume_times: −1 is the client's default, which is no limit in order. polls: it is a lite
    pull consumer, of all such steps of a script or none; it has no listener. assign: it is a lite pull consumer that subscribes to nothing,
    and works on these queues instead. hook: its application has a hook of consumption, if the release lets it have one.
    """

    do: Literal["consumer"] = field(default="consumer", kw_only=True, repr=False)
    rules: Annotated[tuple[ListenerRule, ...], Field(max_length=100)] = ()
    unknown_topic: bool = False
    listener: ListenerKind = ListenerKind.CONCURRENT
    model: Model = Model.CLUSTERING
    tags: Annotated[str, Field(max_length=200)] = "*"
    max_reconsume_times: Annotated[int, Field(ge=-1, le=1_000)] = -1
    polls: bool = False
    assign: Annotated[tuple[QueueOf, ...] | None, Field(min_length=1, max_length=1_000)] = None
    hook: bool = False


@dataclass(frozen=True, slots=True)
class Leave:
    """Shuts the consumer down."""

    do: Literal["leave"] = field(default="leave", kw_only=True, repr=False)


@dataclass(frozen=True, slots=True)
class Store:
    """
    Messages, of a transaction that was committed or of none, are stored into a queue; its broker answers the pulls that it holds.

    retried: they name the group's retry topic, and the topic that they were sent to first.
    """

    do: Literal["store"] = field(default="store", kw_only=True, repr=False)
    broker: BrokerName
    queue: QueueId
    count: Annotated[int, Field(ge=1, le=10_000)] = 1
    bytes: Bytes = 1
    tag: Annotated[str, Field(max_length=50)] = ""
    transactional: bool = False
    retried: bool = False


@dataclass(frozen=True, slots=True)
class RetryTopic:
    """Name servers know the group's retry topic from now on: a queue for writing at each broker, so that no member consumes it."""

    do: Literal["retry_topic"] = field(default="retry_topic", kw_only=True, repr=False)


@dataclass(frozen=True, slots=True)
class Notify:
    """A broker reports to the member, on every connection, that the ids of its group have changed."""

    do: Literal["notify"] = field(default="notify", kw_only=True, repr=False)
    broker: BrokerName


@dataclass(frozen=True, slots=True)
class ResetOffset:
    """A broker asks the member, on every connection, to go on at this offset of queues of its own (RESET_CONSUMER_CLIENT_OFFSET)."""

    do: Literal["reset_offset"] = field(default="reset_offset", kw_only=True, repr=False)
    broker: BrokerName
    queues: Annotated[tuple[QueueId, ...], Field(max_length=100)]
    offset: Natural


class Asked(StrEnum):
    """Requests of a member that a broker can refuse."""

    QUERY = "query"
    MAX = "max"
    PULL = "pull"
    BACK = "back"
    LOCK = "lock"


class Refusal(StrEnum):
    """Response codes with which a broker refuses requests."""

    SYSTEM_ERROR = "SYSTEM_ERROR"
    SYSTEM_BUSY = "SYSTEM_BUSY"
    NO_PERMISSION = "NO_PERMISSION"
    SUBSCRIPTION_NOT_EXIST = "SUBSCRIPTION_NOT_EXIST"
    FLOW_CONTROL = "FLOW_CONTROL"


@dataclass(frozen=True, slots=True)
class Refuse:
    """A broker refuses a kind of request with a code from now on, whatever it asks for; None: it answers as usual."""

    do: Literal["refuse"] = field(default="refuse", kw_only=True, repr=False)
    broker: BrokerName
    asked: Asked
    code: Refusal | None = None


class Hooked(StrEnum):
    """Requests at which a hook of the application can fail."""

    PULL = "pull"
    QUERY = "query"
    LOCK = "lock"


@dataclass(frozen=True, slots=True)
class HookFails:
    """A hook of the application (RPCHook) throws an Error before the next request of a kind; a lite pull consumer has none."""

    do: Literal["hook_fails"] = field(default="hook_fails", kw_only=True, repr=False)
    asked: Hooked


@dataclass(frozen=True, slots=True)
class Suggest:
    """Answers of a broker to pulls suggest this member of it for the next pull from now on; 0: the master."""

    do: Literal["suggest"] = field(default="suggest", kw_only=True, repr=False)
    broker: BrokerName
    id: Annotated[int, Field(ge=0, le=100)]


@dataclass(frozen=True, slots=True)
class LockHolder:
    """Sets whether another member holds the lock of a queue, so that the broker does not lock it for this one."""

    do: Literal["lock_holder"] = field(default="lock_holder", kw_only=True, repr=False)
    broker: BrokerName
    queue: QueueId
    other: bool


@dataclass(frozen=True, slots=True)
class Poll:
    """Polls once, for as long as this: prints when the call ends, and the messages that it returns."""

    do: Literal["poll"] = field(default="poll", kw_only=True, repr=False)
    ms: Ms


@dataclass(frozen=True, slots=True)
class CommitPolled:
    """Commits what was polled, as an application does; queues: of these alone, at once."""

    do: Literal["commit_polled"] = field(default="commit_polled", kw_only=True, repr=False)
    queues: Annotated[tuple[QueueOf, ...] | None, Field(max_length=1_000)] = None


class SeekTo(StrEnum):
    """An end of a queue, for which the client asks its broker."""

    BEGIN = "begin"
    END = "end"


@dataclass(frozen=True, slots=True)
class Seek:
    """Goes on at an offset of a queue, or at one of its ends (to)."""

    do: Literal["seek"] = field(default="seek", kw_only=True, repr=False)
    broker: BrokerName
    queue: QueueId
    offset: Natural | None = None
    to: SeekTo | None = None


@dataclass(frozen=True, slots=True)
class PauseQueue:
    """Pulls no more from a queue."""

    do: Literal["pause_queue"] = field(default="pause_queue", kw_only=True, repr=False)
    broker: BrokerName
    queue: QueueId


@dataclass(frozen=True, slots=True)
class ResumeQueue:
    """Pulls from a queue again."""

    do: Literal["resume_queue"] = field(default="resume_queue", kw_only=True, repr=False)
    broker: BrokerName
    queue: QueueId


@dataclass(frozen=True, slots=True)
class Assign:
    """Works on these queues from now on, and on no others."""

    do: Literal["assign"] = field(default="assign", kw_only=True, repr=False)
    queues: Annotated[tuple[QueueOf, ...], Field(max_length=1_000)]


PollingStep = Poll | CommitPolled | Seek | PauseQueue | ResumeQueue | Assign

SubscribingStep = (
    Join | Leave | Store | RetryTopic | Notify | ResetOffset | Refuse | HookFails | Suggest | LockHolder | PollingStep
)

SUBSCRIBING_STEPS = (
    Join,
    Leave,
    Store,
    RetryTopic,
    Notify,
    ResetOffset,
    Refuse,
    HookFails,
    Suggest,
    LockHolder,
    Poll,
    CommitPolled,
    Seek,
    PauseQueue,
    ResumeQueue,
    Assign,
)
