"""A script as the two hosts run it: frozen values, one a step, in one closed union; its words are those of ``vocabulary``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from rocketdiff.simulation.script.vocabulary import (
    DEFAULT_SETTINGS,
    Answer,
    BrokerName,
    Depth,
    DumpPart,
    Int32,
    Lookup,
    Mode,
    Ms,
    Natural,
    QueueId,
    Route,
    ScriptSettings,
    Thread,
)


@dataclass(frozen=True, slots=True)
class Update:
    """The fault table is told of an attempt."""

    broker: BrokerName
    latency_ms: Ms
    isolation: bool
    reachable: bool = True


@dataclass(frozen=True, slots=True)
class Select:
    """A queue is chosen, as for a first attempt or (last_broker) for a retry."""

    last_broker: BrokerName | None = None
    reset_index: bool = False
    thread: Thread = 0


@dataclass(frozen=True, slots=True)
class Advance:
    """Time passes; background work that falls due runs."""

    ms: Ms


@dataclass(frozen=True, slots=True)
class BrokerAnswers:
    """From now on the broker answers so; several answers are taken in turn by send requests, round and round."""

    name: BrokerName
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class NameServerAnswers:
    """From now on the name server answers so."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class RouteChange:
    """From now on the name server knows this route; clients learn it when they ask."""

    route: Route


@dataclass(frozen=True, slots=True)
class PollRoutes:
    """The client's poll of routes runs now."""


@dataclass(frozen=True, slots=True)
class Pause:
    """The broker freezes: connections succeed, bytes are kept, nothing is answered."""

    broker: BrokerName


@dataclass(frozen=True, slots=True)
class Resume:
    """The broker goes on and answers all it has kept."""

    broker: BrokerName


@dataclass(frozen=True, slots=True)
class Kill:
    """Connections are reset, new ones refused."""

    broker: BrokerName


@dataclass(frozen=True, slots=True)
class Restart:
    """A killed broker is back."""

    broker: BrokerName


@dataclass(frozen=True, slots=True)
class Close:
    """FIN on every connection to the broker, which stays up."""

    broker: BrokerName


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """One round of heartbeats now."""


@dataclass(frozen=True, slots=True)
class QueueOf:
    """The queue an application names itself."""

    broker: BrokerName
    queue_id: QueueId


@dataclass(frozen=True, slots=True)
class Send:
    """
    The application sends ``count`` messages, one after the other; with every_ms the k-th starts no earlier than k·every_ms.

    timeout_ms None: the call without a timeout. queue, or selector (chosen is argument modulo queues), or neither.
    """

    mode: Mode = Mode.SYNC
    count: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    thread: Thread = 0
    timeout_ms: Ms | None = None
    queue: QueueOf | None = None
    selector: Natural | None = None
    every_ms: Ms = 0


@dataclass(frozen=True, slots=True)
class SetIndex:
    """The raw counter of a thread is set."""

    value: Int32
    thread: Thread = 0


@dataclass(frozen=True, slots=True)
class SetWorstIndex:
    """The raw counter of the search for the least bad broker is set."""

    value: Int32
    thread: Thread = 0


@dataclass(frozen=True, slots=True)
class Dump:
    """The state is asked for."""

    parts: tuple[DumpPart, ...]


Action = (
    Update
    | Select
    | BrokerAnswers
    | NameServerAnswers
    | RouteChange
    | PollRoutes
    | Pause
    | Resume
    | Kill
    | Restart
    | Close
    | Heartbeat
    | Send
)
"""What can stand in a timeline; Send and Select are done by their thread, the rest by the environment."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a timeline; at_ms counts from the start of the step."""

    at_ms: Ms
    action: Action


@dataclass(frozen=True, slots=True)
class Timeline:
    """
    Things that happen side by side; the step ends when all are done.

    A thread does its entries in their order, each at its time or as soon as the thread is free.
    """

    entries: tuple[Entry, ...]


Step = Action | Advance | SetIndex | SetWorstIndex | Dump | Timeline


@dataclass(frozen=True, slots=True)
class Script:
    """
    A whole script.

    depth None: the least that can run it. start_index: raw counters of threads 0, 1, … before their first pick; a thread
    without one draws from the tape. expired_wait_extra_ms: how much later than its deadline a wait ends that expires.
    """

    route: Route
    steps: tuple[Step, ...]
    settings: ScriptSettings = DEFAULT_SETTINGS
    depth: Depth | None = None
    start_index: tuple[int, ...] = ()
    seed: int = 0
    expired_wait_extra_ms: int = 0
    lookup: Lookup = Lookup.BEFORE


@dataclass(frozen=True, slots=True)
class NamedScript:
    """A script and what its answers call it."""

    name: str
    script: Script


def brokers_of(script: Script) -> Mapping[str, int]:
    """Every broker the name server ever tells of, with the number of the step that first does (−1: from the start)."""
    found: dict[str, int] = {broker.name: -1 for broker in script.route or ()}
    for number, step in enumerate(script.steps):
        actions = [entry.action for entry in step.entries] if isinstance(step, Timeline) else [step]
        for action in actions:
            if isinstance(action, RouteChange):
                for broker in action.route or ():
                    found.setdefault(broker.name, number)
    return found
