"""
The steps of a producer: sends, and the parts that a send is made of (queue choice, counters, fault table).

Its depths, and what each step needs of them.
"""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from rocketdiff.documents.part import STRICT, WrittenAs
from rocketdiff.documents.refusal import Place, refused
from rocketdiff.documents.yaml_source import Location
from rocketdiff.simulation.script.steps.environment import (
    BrokerAnswers,
    Close,
    Dump,
    EnvironmentStep,
    Heartbeat,
    Kill,
    NameServerAnswers,
    Pause,
    Restart,
    Resume,
)
from rocketdiff.simulation.script.vocabulary import (
    BrokerFault,
    BrokerName,
    Depth,
    DumpPart,
    Int32,
    Mode,
    Ms,
    Natural,
    QueueId,
    ScriptSettings,
    Thread,
)


@dataclass(frozen=True, slots=True)
class Update:
    """Records an attempt in the fault table."""

    do: Literal["update"] = field(default="update", kw_only=True, repr=False)
    broker: BrokerName
    latency_ms: Ms
    isolation: bool
    reachable: bool = True


@dataclass(frozen=True, slots=True)
class Select:
    """Selects a queue as for a first attempt or, with last_broker, for a retry."""

    do: Literal["select"] = field(default="select", kw_only=True, repr=False)
    last_broker: BrokerName | None = None
    reset_index: bool = False
    thread: Thread = 0


@dataclass(frozen=True, slots=True)
class QueueOf:
    """A queue named by the application."""

    broker: BrokerName
    queue_id: QueueId


def _pairs(form: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(form.items())


Size = Annotated[int, Field(ge=0, le=8_388_608)]


@dataclass(frozen=True, slots=True)
class Content:
    """
    What a message carries; an omitted part is not set.

    topic None: the script's. padding: characters of a further property of that name. batch: number of equal messages that
    are sent as one; 0: no batch.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    topic: str | None = None
    properties: Annotated[tuple[tuple[str, str], ...], WrittenAs(dict[str, str], _pairs)] = ()
    keys: str | None = None
    tags: str | None = None
    delay_level: Int32 | None = None
    flag: Int32 = 0
    body_bytes: Size = 2
    padding: Size = 0
    batch: Annotated[int, Field(ge=0, le=1_000)] = 0


@dataclass(frozen=True, slots=True)
class Send:
    """
    Sends ``count`` messages one after another; with every_ms the k-th send starts no earlier than k·every_ms.

    timeout_ms None: the call without a timeout. queue and selector exclude each other; a selector picks the queue at
    selector modulo the number of queues. message None: its content does not matter. request: the answer has the request of
    each attempt.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT | {
        "json_schema_extra": {"not": {"required": ["queue", "selector"]}}
    }

    do: Literal["send"] = field(default="send", kw_only=True, repr=False)
    mode: Mode = Mode.SYNC
    count: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    thread: Thread = 0
    timeout_ms: Ms | None = None
    queue: QueueOf | None = None
    selector: Natural | None = None
    every_ms: Ms = 0
    message: Content | None = None
    request: bool = False


@dataclass(frozen=True, slots=True)
class SetIndex:
    """Sets the raw queue counter of a thread."""

    do: Literal["index"] = field(default="index", kw_only=True, repr=False)
    value: Int32
    thread: Thread = 0


@dataclass(frozen=True, slots=True)
class SetWorstIndex:
    """Sets the raw counter of the search for the least bad broker."""

    do: Literal["worst_index"] = field(default="worst_index", kw_only=True, repr=False)
    value: Int32
    thread: Thread = 0


SelectionAction = Update | Select
"""What a timeline can do without a send."""

SendingAction = SelectionAction | Send
"""Send and Select belong to their thread; Update to none."""

SendingStep = SendingAction | SetIndex | SetWorstIndex

SENDING_STEPS = (Update, Select, Send, SetIndex, SetWorstIndex)

SENDING_DEPTHS = (Depth.SELECTION, Depth.SEND_LOOP, Depth.REMOTING)
"""From least to most."""

_OF_CONNECTIONS = (BrokerFault.FIN, BrokerFault.SILENT)


def needed_depth(step: EnvironmentStep | SendingStep) -> Depth:
    """Return the least depth at which a step has an effect on a producer."""
    match step:
        case Heartbeat() | Kill() | Restart() | Close() | Send(mode=Mode.ASYNC):
            return Depth.REMOTING
        case BrokerAnswers(_, answers):
            return Depth.REMOTING if any(answer.fault in _OF_CONNECTIONS for answer in answers) else Depth.SEND_LOOP
        case Dump(parts):
            return Depth.REMOTING if DumpPart.CONNECTIONS in parts else Depth.SELECTION
        case Send() | NameServerAnswers() | Pause() | Resume():
            return Depth.SEND_LOOP
        case _:
            return Depth.SELECTION


def depth_with(settings: ScriptSettings, least: Depth) -> Depth:
    """
    Return the depth of a script with these settings whose steps need ``least``.

    With the detector on and at least one send, that is remoting, because the detector has nothing to probe at lower depths.
    """
    return Depth.REMOTING if settings.start_detector_enable and least is not Depth.SELECTION else least


def broker_of(step: SendingStep) -> str | None:
    """Return the broker that a producer's step names."""
    match step:
        case Update(broker) | Select(broker) | Send(queue=QueueOf(broker)):
            return broker
    return None


def require_consistent(step: SendingStep, location: Location, place: Place) -> None:
    """Raise UsageError for contradictory fields of a producer's step."""
    if not isinstance(step, Send):
        return
    if step.queue is not None and step.selector is not None:
        raise refused(place, location, expected="queue or selector", seen="both", hint="leave one of them out")
    if step.mode is Mode.ONE_WAY and step.timeout_ms is not None:
        expected, seen = "no timeout_ms with mode oneway", str(step.timeout_ms)
        raise refused(place, location, expected=expected, seen=seen, hint="the client has no such call")
    if step.message is not None and step.message.batch and (step.mode is not Mode.SYNC or step.queue or step.selector):
        expected, seen = "batch with mode sync, without queue and selector", "one of them"
        raise refused(
            place, location, expected=expected, seen=seen, hint="most releases have no other call for a batch"
        )
