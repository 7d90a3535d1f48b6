"""
The only description of the scenario file format, version 1; the published JSON Schema is generated from it.

Rules over two fields are in ``rules``.
"""

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model

from rocketdiff.core.tables.checks import CheckKind, asked_for
from rocketdiff.core.tables.fault import FaultKind, Frames, Means, RequestKind
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.settings import CLIENT_SETTINGS, ClientSettings, Unit
from rocketdiff.core.tables.suites import SUITES
from rocketdiff.core.tables.topology import TOPOLOGIES, NodeKind
from rocketdiff.documents.part import Part
from rocketdiff.scenario.sending.file_format import Seconds, WorkloadPart

FORMAT = 1
"""Version of the file format; any other is refused."""

Unique = Field(json_schema_extra={"uniqueItems": True})


def _kinds(means: Means, *nodes: NodeKind, has_delay: bool = False) -> tuple[str, ...]:
    """Names of the faults that have the same fields in a file."""
    traits = {kind.value: kind.traits for kind in FaultKind}
    return tuple(
        name for name, of in traits.items() if of.means is means and of.node in nodes and of.has_delay is has_delay
    )


if TYPE_CHECKING:
    CheckName = str
    DurationCheck = str
    SuiteName = str
    TopologyName = str
    PauseKind = str
    KillKind = str
    MoveKind = str
    NameServerPauseKind = str
    ProxyPauseKind = str
    ProxyKillKind = str
    SettingKind = str
    WireKind = str
    WireDelayKind = str
    FramesName = str
    RequestKindName = str
else:  # closed sets from the tables of core
    CheckName = Literal[asked_for(ClientRole.PRODUCER)]
    DurationCheck = Literal[asked_for(ClientRole.PRODUCER, CheckKind.STATISTICAL)]
    SuiteName = Literal[tuple(SUITES)]
    TopologyName = Literal[tuple(TOPOLOGIES)]
    PauseKind = Literal[_kinds(Means.PAUSE, NodeKind.BROKER, NodeKind.SLAVE)]
    KillKind = Literal[_kinds(Means.KILL, NodeKind.BROKER, NodeKind.SLAVE)]
    MoveKind = Literal[_kinds(Means.MOVE, NodeKind.BROKER)]
    NameServerPauseKind = Literal[_kinds(Means.PAUSE, NodeKind.NAME_SERVER)]
    ProxyPauseKind = Literal[_kinds(Means.PAUSE, NodeKind.PROXY)]
    ProxyKillKind = Literal[_kinds(Means.KILL, NodeKind.PROXY)]
    SettingKind = Literal[_kinds(Means.SETTING, NodeKind.BROKER)]
    WireKind = Literal[_kinds(Means.RELAY, NodeKind.BROKER)]
    WireDelayKind = Literal[_kinds(Means.RELAY, NodeKind.BROKER, has_delay=True)]
    FramesName = Literal[tuple(map(str, Frames))]
    RequestKindName = Literal[tuple(map(str, RequestKind))]
Row = Annotated[str, Field(pattern=r"^[A-G][1-9][0-9]?$")]
PauseSeconds = Annotated[
    float,
    Field(
        ge=0.05, le=600, allow_inf_nan=False, description="Under 50 ms a pause cannot be proven by an unanswered probe."
    ),
]
ProxyNumber = Annotated[int, Field(ge=1, le=9)]
ShownSeconds = Annotated[
    float,
    Field(ge=0.3, le=600, allow_inf_nan=False, description="Several requests show that it is in effect."),
]


class TopicPart(Part):
    """
    Queues of each arm's topic.

    ordered: a topic of ordered messages, the only kind that a read-only broker refuses.
    """

    queues_per_broker: Annotated[int, Field(ge=1, le=64)] = 4
    ordered: bool = False


def _settings_part() -> type[Part]:
    """The table of client settings as a mapping of the file."""
    parts: dict[str, Any] = {}
    for each in fields(ClientSettings):
        setting = CLIENT_SETTINGS[each.name]
        limits = Field(ge=setting.least, le=setting.most)
        parts[each.name] = (bool if setting.unit is Unit.FLAG else Annotated[int, limits], each.default)
    about = "The client's own settings under their own names in snake case; omitted settings have the client's default."
    return create_model("SettingsPart", __base__=Part, __doc__=about, **parts)


if TYPE_CHECKING:
    SettingsPart = Part
else:
    SettingsPart = _settings_part()


class FaultEntry(Part):
    """One entry of ``faults``; ``core.tables.fault`` has the kinds."""

    kind: str


class OnBroker(FaultEntry):
    """A fault of a broker, its slave, or the connections to it."""

    broker: Annotated[str, Field(pattern=r"^[a-z]$")]


class OnTheWire(OnBroker):
    """A fault injected by relays in one direction; of: the requests of consumers, or their answers, that it hits alone."""

    frames: FramesName
    of: RequestKindName | None = None


class Timed(FaultEntry):
    """Begins at_s after the first due send."""

    at_s: Seconds


class Repeated(Timed):
    """Lasts for_s; may repeat at a fixed interval."""

    for_s: PauseSeconds
    repeat: Annotated[int, Field(ge=1, le=1_000)] = 1
    every_s: Seconds | None = None


class Shown(Repeated):
    """Lasts long enough for several requests to prove it."""

    for_s: ShownSeconds


class PausePart(Repeated, OnBroker):
    """Pause a broker or its slave for a while, once or at a fixed interval."""

    kind: PauseKind


class KillPart(Timed, OnBroker):
    """Kill a broker or its slave; its restart begins after for_s, or never without for_s."""

    kind: KillKind
    for_s: PauseSeconds | None = None


class MovePart(Timed, OnBroker):
    """Kill a broker; after for_s it is started again on another port, under its name and with its messages."""

    kind: MoveKind
    for_s: PauseSeconds


class NameServerPausePart(Repeated):
    """Pause a name server for a while, once or at a fixed interval."""

    kind: NameServerPauseKind
    name_server: Annotated[int, Field(ge=1, le=9)]


class ProxyPausePart(Repeated):
    """Pause a proxy for a while, once or at a fixed interval."""

    kind: ProxyPauseKind
    proxy: ProxyNumber


class ProxyKillPart(Timed):
    """Kill a proxy; its restart begins after for_s, or never without for_s."""

    kind: ProxyKillKind
    proxy: ProxyNumber
    for_s: PauseSeconds | None = None


class BrokerSettingPart(Shown, OnBroker):
    """Change a broker's settings for a while: no write permission, flow control, no time to flush."""

    kind: SettingKind


class WirePart(Shown, OnTheWire):
    """Relays before both clients drop the frames to a broker, or from it, or reset its connections."""

    kind: WireKind


class WireDelayPart(Shown, OnTheWire):
    """Relays before both clients delay the frames to a broker, or from it, and keep their order."""

    kind: WireDelayKind
    delay_ms: Annotated[
        float,
        Field(
            ge=50,
            le=10_000,
            allow_inf_nan=False,
            description="A shorter delay is indistinguishable from a busy machine.",
        ),
    ]


FaultPart = Annotated[
    PausePart
    | KillPart
    | MovePart
    | NameServerPausePart
    | ProxyPausePart
    | ProxyKillPart
    | BrokerSettingPart
    | WirePart
    | WireDelayPart,
    Field(discriminator="kind"),
]


class TolerancePart(Part):
    """Durations of the check are equal within [1/ratio, ratio]; reason: why this ratio."""

    ratio: Annotated[float, Field(gt=1, le=100, allow_inf_nan=False)]
    reason: Annotated[str, Field(min_length=20, description="A sentence, not a word.")]


class ScenarioFile(Part):
    """One scenario."""

    format: Literal[1]
    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*(/[a-z0-9]+(-[a-z0-9]+)*)+$")]
    establishes: Annotated[str, Field(min_length=20, description="What a run of it shows, in a sentence.")]
    covers: Annotated[list[Row], Unique] = []
    topology: TopologyName
    topic: TopicPart = TopicPart()
    settings: SettingsPart = SettingsPart()
    workload: WorkloadPart
    faults: list[FaultPart] = []
    checks: Annotated[list[CheckName], Field(min_length=1, json_schema_extra={"uniqueItems": True})]
    suites: Annotated[list[SuiteName], Unique] = ["full"]
    tolerances: dict[DurationCheck, TolerancePart] = {}

    @property
    def client_settings(self) -> ClientSettings:
        return ClientSettings(**self.settings.model_dump())
