"""
The steps of a consumer: allocations, and what changes in its group.

Its depths, and what each step needs of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from rocketdiff.core.errors import UsageError
from rocketdiff.documents.refusal import Place, refused
from rocketdiff.documents.yaml_source import Location
from rocketdiff.simulation.script.steps.environment import (
    Advance,
    BrokerAnswers,
    Close,
    Dump,
    EnvironmentStep,
    Kill,
    NameServerAnswers,
    Pause,
    PollRoutes,
    Restart,
    Resume,
    RouteChange,
)
from rocketdiff.simulation.script.steps.process_queue import PROCESS_QUEUE_STEPS, ProcessQueueStep
from rocketdiff.simulation.script.steps.sending import QueueOf
from rocketdiff.simulation.script.steps.subscribing import (
    SUBSCRIBING_STEPS,
    Join,
    LockHolder,
    Notify,
    PauseQueue,
    Refuse,
    ResetOffset,
    ResumeQueue,
    Seek,
    Store,
    SubscribingStep,
    Suggest,
)
from rocketdiff.simulation.script.vocabulary import BrokerName, Depth, DumpPart, Ms, Natural, QueueId, ScriptSettings


class AllocationStrategy(StrEnum):
    """The client's strategies, by the names that they report; the last one reports that of the inner one too."""

    AVG = "AVG"
    AVG_BY_CIRCLE = "AVG_BY_CIRCLE"
    CONSISTENT_HASH = "CONSISTENT_HASH"
    CONFIG = "CONFIG"
    MACHINE_ROOM = "MACHINE_ROOM"
    MACHINE_ROOM_NEARBY = "MACHINE_ROOM_NEARBY"


ClientId = Annotated[str, Field(max_length=200)]

_FIELDS = {
    "queues": AllocationStrategy.CONFIG,
    "rooms": AllocationStrategy.MACHINE_ROOM,
    "within": AllocationStrategy.MACHINE_ROOM_NEARBY,
}
"""Fields that one strategy has."""

_WITHIN = (AllocationStrategy.AVG, AllocationStrategy.AVG_BY_CIRCLE, AllocationStrategy.CONSISTENT_HASH)


@dataclass(frozen=True, slots=True)
class Allocate:
    """
    Lets a strategy choose a member's share of the readable queues of the name server's route; sorted before, as in a round.

    queues: those of CONFIG. rooms: those that MACHINE_ROOM serves. within: the strategy inside MACHINE_ROOM_NEARBY, where the
    room of a broker or an id is what stands before its first @.
    """

    do: Literal["allocate"] = field(default="allocate", kw_only=True, repr=False)
    strategy: AllocationStrategy
    ids: Annotated[tuple[ClientId, ...], Field(max_length=1_000)]
    own: ClientId
    queues: Annotated[tuple[QueueOf, ...] | None, Field(max_length=1_000)] = None
    rooms: Annotated[tuple[str, ...] | None, Field(max_length=1_000)] = None
    within: AllocationStrategy | None = None


@dataclass(frozen=True, slots=True)
class Members:
    """Sets the ids of the group that brokers list, ``own`` for the member itself; None: they answer with an error."""

    do: Literal["members"] = field(default="members", kw_only=True, repr=False)
    ids: Annotated[tuple[ClientId, ...] | None, Field(max_length=1_000)]


@dataclass(frozen=True, slots=True)
class KnownOffset:
    """Sets the offset of the group that a broker knows of a queue; None: none."""

    do: Literal["offset"] = field(default="offset", kw_only=True, repr=False)
    broker: BrokerName
    queue: QueueId
    offset: Natural | None


@dataclass(frozen=True, slots=True)
class Consumed:
    """Messages of a queue were consumed: sets the offset that the member commits next, unless it is smaller."""

    do: Literal["consumed"] = field(default="consumed", kw_only=True, repr=False)
    broker: BrokerName
    queue: QueueId
    offset: Natural


@dataclass(frozen=True, slots=True)
class Wake:
    """Asks for a round of rebalancing, as a broker's notification does."""

    do: Literal["wake"] = field(default="wake", kw_only=True, repr=False)


@dataclass(frozen=True, slots=True)
class Rounds:
    """Lets time pass, and prints what the member has asked brokers since the last of these steps."""

    do: Literal["rounds"] = field(default="rounds", kw_only=True, repr=False)
    ms: Ms


ConsumingStep = Allocate | ProcessQueueStep | Members | KnownOffset | Consumed | Wake | Rounds | SubscribingStep

CONSUMING_STEPS = (Allocate, *PROCESS_QUEUE_STEPS, Members, KnownOffset, Consumed, Wake, Rounds, *SUBSCRIBING_STEPS)

CONSUMING_DEPTHS = (Depth.ALLOCATION, Depth.PROCESS_QUEUE, Depth.REBALANCE, Depth.CONSUMER)
"""From least to most."""


_NEEDED: Mapping[type, Depth] = {
    **dict.fromkeys((Allocate, Advance, RouteChange), Depth.ALLOCATION),
    **dict.fromkeys(PROCESS_QUEUE_STEPS, Depth.PROCESS_QUEUE),
    **dict.fromkeys((Members, KnownOffset, Consumed, Wake, Rounds, PollRoutes), Depth.REBALANCE),
    **dict.fromkeys(
        (*SUBSCRIBING_STEPS, BrokerAnswers, NameServerAnswers, Pause, Resume, Kill, Restart, Close), Depth.CONSUMER
    ),
}

_NEEDED_BY_PART: Mapping[DumpPart, Depth] = {
    DumpPart.CLOCK: Depth.ALLOCATION,
    DumpPart.PROCESS: Depth.PROCESS_QUEUE,
    DumpPart.OWNED: Depth.REBALANCE,
}


def needed_depth(step: EnvironmentStep | ConsumingStep) -> Depth:
    """Return the least depth at which a step has an effect on a consumer; UsageError if none is deep enough."""
    if not isinstance(step, Dump) and type(step) in _NEEDED:
        return _NEEDED[type(step)]
    if isinstance(step, Dump) and _NEEDED_BY_PART.keys() >= set(step.parts):
        return max((_NEEDED_BY_PART[part] for part in step.parts), key=CONSUMING_DEPTHS.index)
    raise UsageError(
        "steps that act on consumers (route, advance, poll_routes, a dump of clock, process and owned)",
        seen=step.do,
        hint="a script has the steps of one role",
    )


def depth_with(_settings: ScriptSettings, least: Depth) -> Depth:
    """Return the least depth: no setting has an effect on a consumer."""
    return least


def broker_of(step: ConsumingStep) -> str | None:
    """Return the broker that a step names; the queues of CONFIG may be of brokers without a route."""
    return (
        step.broker
        if isinstance(
            step,
            KnownOffset
            | Consumed
            | Store
            | Notify
            | ResetOffset
            | Refuse
            | Suggest
            | LockHolder
            | Seek
            | PauseQueue
            | ResumeQueue,
        )
        else None
    )


def require_alike(actions: Iterable[tuple[Location, object]], place: Place) -> None:
    """Raise UsageError unless all consumers of a script are of one kind: a script has one member, which may restart."""
    first: Join | None = None
    for location, action in actions:
        if not isinstance(action, Join):
            continue
        first = first or action
        for name in ("listener", "model", "polls"):
            if getattr(action, name) != getattr(first, name):
                expected = f"the same {name} in every consumer step ({_shown(getattr(first, name))})"
                raise refused(place, location, expected=expected, seen=_shown(getattr(action, name)))


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def require_consistent(step: ConsumingStep, location: Location, place: Place) -> None:
    """Raise UsageError for contradictory fields of a consumer's step."""
    if isinstance(step, Join) and step.assign is not None and not step.polls:
        raise refused(place, location, expected="assign with polls only", seen="a consumer with a listener")
    if isinstance(step, Seek) and (step.offset is None) == (step.to is None):
        seen = "neither" if step.to is None else "both"
        raise refused(place, location, expected="a seek with an offset or an end (to)", seen=seen)
    if not isinstance(step, Allocate):
        return
    for name, strategy in _FIELDS.items():
        if getattr(step, name) is not None and step.strategy is not strategy:
            raise refused(place, location, expected=f"{name} with {strategy} only", seen=step.strategy)
    if step.within is not None and step.within not in _WITHIN:
        raise refused(place, location, expected=f"within {', '.join(_WITHIN)}", seen=step.within)
