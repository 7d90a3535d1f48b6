"""
The words scripts are written in: limits, closed sets and settings.

Limits stand in the types, so that the reader of scripts and the published JSON schema have them from one place. A field's
name is its name in the file; a field that is left out has the value it has here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import Field, create_model

from rocketdiff.core.tables.settings import CLIENT_SETTINGS, ClientSettings, Unit
from rocketdiff.documents.part import Part, WrittenAs

FORMAT: Literal[1] = 1
"""Version of the script format; another number is another format and is refused."""

MOST_STEPS = 100_000
"""Steps of a script and entries of a timeline; far above what a person writes, far below what fills a memory."""

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
    """How much of the client is real; see harness/rocketdiff/simulation/README.md. Declared from the least to the most."""

    SELECTION = "selection"
    SEND_LOOP = "send-loop"
    REMOTING = "remoting"


class Mode(StrEnum):
    """Which of the client's three ways of sending."""

    SYNC = "sync"
    ASYNC = "async"
    ONE_WAY = "oneway"


class Lookup(StrEnum):
    """When the client learns the route: before step 0 at no cost, or as its first send makes it ask."""

    BEFORE = "before"
    AT_FIRST_SEND = "at-first-send"


class Fault(StrEnum):
    """
    What a broker does instead of answering.

    It swallows the request; refuses connections and resets those there are; resets, or cleanly closes, the connection
    when a request arrives; or its host is gone from the network, so that connecting comes to no end.
    """

    TIMEOUT = "timeout"
    REFUSED = "refused"
    RESET = "reset"
    FIN = "fin"
    SILENT = "silent"


class DumpPart(StrEnum):
    """What can be asked about the state, in the order in which it is answered."""

    INDEX = "index"
    WORST_INDEX = "worst_index"
    QUEUES = "queues"
    FAULTS = "faults"
    CLOCK = "clock"
    CONNECTIONS = "connections"


@dataclass(frozen=True, slots=True)
class ScriptSettings(ClientSettings):
    """
    The client's settings under its own names in snake case; what is left out stays as the client has it.

    A setting that a release does not know is not set there. vip_channel_enabled None: the release's own default, which
    was true up to 4.5.0.
    """

    # Besides those of a scenario:
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
"""What a client takes of each: more than a scenario may state."""

DEFAULT_SETTINGS = ScriptSettings()
"""Nothing is set."""


def _settings_part() -> type[Part]:
    """The settings as a mapping of the file."""
    hints = get_type_hints(ScriptSettings, include_extras=True)
    taken = hints | {name: _TAKEN[setting.unit] for name, setting in CLIENT_SETTINGS.items()}
    parts: dict[str, Any] = {each.name: (taken[each.name], each.default) for each in fields(ScriptSettings)}
    return create_model("ScriptSettings", __base__=Part, __doc__=ScriptSettings.__doc__, **parts)


WrittenSettings = Annotated[ScriptSettings, WrittenAs(_settings_part(), lambda part: ScriptSettings(**dict(part)))]
