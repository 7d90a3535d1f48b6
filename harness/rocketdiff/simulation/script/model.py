"""
The data model of a script, both for the file and for the two hosts: one frozen dataclass per kind of step.

``do`` is the step's kind in the file. A value with another form in the file is annotated with WrittenAs.
"""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from rocketdiff.documents.part import STRICT, WrittenAs
from rocketdiff.documents.refusal import rule_broken
from rocketdiff.simulation.script.answers import BrokerAnswersOf, NameServerAnswer, Route
from rocketdiff.simulation.script.vocabulary import (
    DEFAULT_SETTINGS,
    FORMAT,
    MOST_STEPS,
    BrokerName,
    Depth,
    DumpPart,
    Int32,
    Lookup,
    Mode,
    Ms,
    Natural,
    QueueId,
    Thread,
    WrittenSettings,
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
class Advance:
    """Lets time pass and runs the background work that falls due."""

    do: Literal["advance"] = field(default="advance", kw_only=True, repr=False)
    ms: Ms


@dataclass(frozen=True, slots=True)
class BrokerAnswers:
    """Sets the answers of a broker; send requests cycle through several answers."""

    do: Literal["broker"] = field(default="broker", kw_only=True, repr=False)
    name: BrokerName
    answers: BrokerAnswersOf


@dataclass(frozen=True, slots=True)
class NameServerAnswers:
    """Sets the answer of the name server."""

    do: Literal["name_server"] = field(default="name_server", kw_only=True, repr=False)
    answer: NameServerAnswer


@dataclass(frozen=True, slots=True)
class RouteChange:
    """Sets the route of the name server; the client learns it at its next route request."""

    do: Literal["route"] = field(default="route", kw_only=True, repr=False)
    route: Route


@dataclass(frozen=True, slots=True)
class PollRoutes:
    """Runs the client's route poll now."""

    do: Literal["poll_routes"] = field(default="poll_routes", kw_only=True, repr=False)


@dataclass(frozen=True, slots=True)
class Pause:
    """Freezes the broker: connects succeed, requests are held, nothing is answered."""

    do: Literal["pause"] = field(default="pause", kw_only=True, repr=False)
    broker: BrokerName


@dataclass(frozen=True, slots=True)
class Resume:
    """Resumes the broker, which answers all held requests."""

    do: Literal["resume"] = field(default="resume", kw_only=True, repr=False)
    broker: BrokerName


@dataclass(frozen=True, slots=True)
class Kill:
    """Kills the broker: its connections are reset, new ones refused."""

    do: Literal["kill"] = field(default="kill", kw_only=True, repr=False)
    broker: BrokerName


@dataclass(frozen=True, slots=True)
class Restart:
    """Restarts a killed broker."""

    do: Literal["restart"] = field(default="restart", kw_only=True, repr=False)
    broker: BrokerName


@dataclass(frozen=True, slots=True)
class Close:
    """Sends FIN on every connection to the broker, which stays up."""

    do: Literal["close"] = field(default="close", kw_only=True, repr=False)
    broker: BrokerName


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Runs one round of heartbeats now."""

    do: Literal["heartbeat"] = field(default="heartbeat", kw_only=True, repr=False)


@dataclass(frozen=True, slots=True)
class QueueOf:
    """A queue named by the application."""

    broker: BrokerName
    queue_id: QueueId


@dataclass(frozen=True, slots=True)
class Send:
    """
    Sends ``count`` messages one after another; with every_ms the k-th send starts no earlier than k·every_ms.

    timeout_ms None: the call without a timeout. queue and selector exclude each other; a selector picks the queue at
    selector modulo the number of queues.
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


def _each_once(parts: list[DumpPart]) -> tuple[DumpPart, ...]:
    if len(set(parts)) < len(parts):
        raise rule_broken("each part once")
    return tuple(part for part in DumpPart if part in parts)


_Parts = Annotated[list[DumpPart], Field(min_length=1, json_schema_extra={"uniqueItems": True})]


@dataclass(frozen=True, slots=True)
class Dump:
    """Prints parts of the state."""

    do: Literal["dump"] = field(default="dump", kw_only=True, repr=False)
    parts: Annotated[tuple[DumpPart, ...], WrittenAs(_Parts, _each_once)]


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
"""The actions of a timeline; Send and Select belong to their thread, the others to the environment."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A timeline entry; at_ms counts from the start of the step."""

    at_ms: Ms
    action: Annotated[Action, Field(discriminator="do")]


@dataclass(frozen=True, slots=True)
class Timeline:
    """
    Concurrent entries; the step ends when all of them are done.

    A thread does its entries in order, each at its time or as soon as the thread is free.
    """

    do: Literal["timeline"] = field(default="timeline", kw_only=True, repr=False)
    entries: Annotated[tuple[Entry, ...], Field(min_length=1, max_length=MOST_STEPS)]


Step = Action | Advance | SetIndex | SetWorstIndex | Dump | Timeline


def _indexes(form: int | list[int]) -> tuple[int, ...]:
    return tuple(form) if isinstance(form, list) else (form,)


_Indexes = Int32 | Annotated[list[Int32], Field(min_length=1, max_length=256)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """
    A script of the simulation.

    depth None: the least depth that can run it. start_index: raw counters of threads 0, 1, … before their first pick; a
    thread without one draws from the tape. expired_wait_extra_ms: delay between the deadline of an expired wait and its end.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    format: Literal[1] = field(default=FORMAT, repr=False)
    depth: Depth | None = None
    route: Route
    settings: WrittenSettings = DEFAULT_SETTINGS
    start_index: Annotated[tuple[int, ...], WrittenAs(_Indexes, _indexes)] = ()
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    expired_wait_extra_ms: Annotated[int, Field(ge=0, le=1)] = 0
    lookup: Lookup = Lookup.BEFORE
    steps: Annotated[tuple[Annotated[Step, Field(discriminator="do")], ...], Field(max_length=MOST_STEPS)]


@dataclass(frozen=True, slots=True)
class NamedScript:
    """A script and its name in answer lines."""

    name: str
    script: Script
