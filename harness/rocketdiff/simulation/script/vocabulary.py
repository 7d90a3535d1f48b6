"""
The vocabulary of scripts: limits, enumerations and settings.

Limits are part of the types, so that the script reader and the published JSON schema share them. Field names and defaults
are those of the file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import Field, create_model

from rocketdiff.core.tables.settings import CLIENT_SETTINGS, ClientSettings, Unit
from rocketdiff.documents.part import Part, WrittenAs

FORMAT: Literal[1] = 1
"""Version of the script format; any other version is refused."""

MOST_STEPS = 100_000
"""Limit of steps in a script and of entries in a timeline: far above a hand-written script, far below exhausting memory."""

VISIBLE = r"^[!-~]+$"

_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1

Ms = Annotated[int, Field(ge=0, le=100_000_000_000, description="Virtual milliseconds, at most three years.")]
IntMs = Annotated[int, Field(ge=0, le=_INT_MAX, description="Milliseconds that the client keeps in an int.")]
PeriodMs = Annotated[
    int, Field(ge=1, le=_INT_MAX, description="A period; none is 0, which would repeat for ever at once.")
]
Int32 = Annotated[int, Field(ge=_INT_MIN, le=_INT_MAX)]
Natural = Annotated[int, Field(ge=0, le=_INT_MAX)]
BrokerName = Annotated[str, Field(max_length=200, pattern=VISIBLE)]
QueueId = Annotated[int, Field(ge=0, le=65_535)]
Thread = Annotated[int, Field(ge=0, le=255, description="A sender thread; each has its own counter.")]
Retries = Annotated[int, Field(ge=0, le=10_000)]
Code = Annotated[int, Field(ge=0, le=_INT_MAX)]


class Depth(StrEnum):
    """How much of the client is real, for each role from least to most; see harness/rocketdiff/simulation/README.md."""

    SELECTION = "selection"
    SEND_LOOP = "send-loop"
    REMOTING = "remoting"
    ALLOCATION = "allocation"
    PROCESS_QUEUE = "process-queue"
    REBALANCE = "rebalance"
    CONSUMER = "consumer"


class Mode(StrEnum):
    """The client's three send modes."""

    SYNC = "sync"
    ASYNC = "async"
    ONE_WAY = "oneway"


class Lookup(StrEnum):
    """When the client looks up the route: before step 0 at no cost, or at its first send."""

    BEFORE = "before"
    AT_FIRST_SEND = "at-first-send"


class BrokerFault(StrEnum):
    """
    A broker's behaviour instead of an answer.

    timeout: swallow requests. refused: refuse connects and reset open connections. reset, fin: reset, or cleanly close, the
    connection when a send request arrives. silent: the broker's host has left the network, so that connects hang.
    """

    TIMEOUT = "timeout"
    REFUSED = "refused"
    RESET = "reset"
    FIN = "fin"
    SILENT = "silent"


class DumpPart(StrEnum):
    """The parts of the state that a dump can contain, in their order."""

    INDEX = "index"
    WORST_INDEX = "worst_index"
    QUEUES = "queues"
    FAULTS = "faults"
    CLOCK = "clock"
    CONNECTIONS = "connections"
    OWNED = "owned"
    PROCESS = "process"


@dataclass(frozen=True, slots=True)
class ScriptSettings(ClientSettings):
    """
    The client's settings under its own names in snake case; an omitted setting keeps the client's default.

    A setting that a release does not have is not set there. vip_channel_enabled None: the release's default, which was true
    up to 4.5.0.
    """

    # In addition to the settings of a scenario:
    start_detector_enable: bool = False
    detect_timeout_ms: IntMs = 200
    detect_interval_ms: PeriodMs = 2_000
    added_retry_response_codes: tuple[Code, ...] = ()
    vip_channel_enabled: bool | None = None


_TAKEN: Mapping[Unit, Any] = {
    Unit.FLAG: bool,
    Unit.MS: IntMs,
    Unit.MS_OR_OFF: Annotated[int, Field(ge=-1, le=_INT_MAX)],
    Unit.PERIOD_MS: PeriodMs,
    Unit.TIMES: Retries,
    Unit.BYTES: Natural,
}
"""The range that the client accepts for each unit; wider than in a scenario."""

DEFAULT_SETTINGS = ScriptSettings()
"""No setting is changed."""


def _settings_part() -> type[Part]:
    hints = get_type_hints(ScriptSettings, include_extras=True)
    taken = hints | {name: _TAKEN[setting.unit] for name, setting in CLIENT_SETTINGS.items()}
    parts: dict[str, Any] = {each.name: (taken[each.name], each.default) for each in fields(ScriptSettings)}
    return create_model("ScriptSettings", __base__=Part, __doc__=ScriptSettings.__doc__, **parts)


WrittenSettings = Annotated[ScriptSettings, WrittenAs(_settings_part(), lambda part: ScriptSettings(**dict(part)))]
