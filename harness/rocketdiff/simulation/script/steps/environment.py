"""The steps of every role: time, servers, routes, connections, and the dump of the client's state."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from rocketdiff.documents.part import WrittenAs
from rocketdiff.documents.refusal import rule_broken
from rocketdiff.simulation.script.answers import BrokerAnswersOf, NameServerAnswer, Route
from rocketdiff.simulation.script.vocabulary import BrokerName, DumpPart, Ms


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


EnvironmentAction = (
    BrokerAnswers | NameServerAnswers | RouteChange | PollRoutes | Pause | Resume | Kill | Restart | Close | Heartbeat
)
"""What a timeline can do besides the role's actions."""

EnvironmentStep = EnvironmentAction | Advance | Dump


def broker_of(step: object) -> str | None:
    """Return the broker that a step of the environment names."""
    match step:
        case Pause(broker) | Resume(broker) | Kill(broker) | Restart(broker) | Close(broker) | BrokerAnswers(broker):
            return broker
    return None
