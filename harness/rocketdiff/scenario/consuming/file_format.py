"""The part ``consumers`` of a scenario file, with which it is about consumers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model

from rocketdiff.core.consuming.plan import Allocation, Commits, ListenerKind, ListenerOutcome, MessageModel, Mix
from rocketdiff.core.tables.checks import CheckKind, asked_for
from rocketdiff.core.tables.consumer_settings import CONSUME_FROM, CONSUMER_PROPERTIES, CONSUMER_SETTINGS
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.settings import Setting
from rocketdiff.documents.part import Part
from rocketdiff.scenario.file_format import ScenarioFile, SuiteName, TolerancePart, Unique
from rocketdiff.scenario.sending.file_format import Seconds

if TYPE_CHECKING:
    ListenerName = str
    AllocationName = str
    OutcomeName = str
    MixName = str
    CommitsName = str
    ModelName = str
    GroupCheckName = str
    GroupDurationCheck = str
    SettingsPart = Part
    PropertiesPart = Part
else:  # closed sets from core

    def _settings(name: str, about: str, table: Mapping[str, Setting], **parts: Any) -> type[Part]:
        """A mapping with an optional field for each setting."""
        for each, setting in table.items():
            parts[each] = (Annotated[int, Field(ge=setting.least, le=setting.most)] | None, None)
        return create_model(name, __base__=Part, __doc__=about, **parts)

    ListenerName = Literal[tuple(map(str, ListenerKind))]
    AllocationName = Literal[tuple(map(str, Allocation))]
    OutcomeName = Literal[tuple(map(str, ListenerOutcome))]
    ModelName = Literal[tuple(map(str, MessageModel))]
    MixName = Literal[tuple(map(str, Mix))]
    CommitsName = Literal[tuple(map(str, Commits))]
    GroupCheckName = Literal[asked_for(ClientRole.CONSUMER)]
    GroupDurationCheck = Literal[asked_for(ClientRole.CONSUMER, CheckKind.STATISTICAL)]
    SettingsPart = _settings(
        "ConsumerSettingsPart",
        "A consumer's own settings; omitted ones have the client's default.",
        CONSUMER_SETTINGS,
        consume_from_where=(Literal[CONSUME_FROM] | None, None),
    )
    PropertiesPart = _settings("PropertiesPart", "System properties of the client's process.", CONSUMER_PROPERTIES)

WorkMs = Annotated[int, Field(ge=0, le=60_000)]


class RulePart(Part):
    """What the listener does with message n if n modulo every is offset, at its first deliveries."""

    every: Annotated[int, Field(ge=1, le=1_000_000)]
    offset: Annotated[int, Field(ge=0, lt=1_000_000)] = 0
    tries: Annotated[int, Field(ge=1, le=16)]
    outcome: OutcomeName
    delay_level: Annotated[int, Field(ge=-1, le=18)] | None = None
    suspend_ms: Annotated[int, Field(ge=10, le=30_000)] | None = None
    work_ms: WorkMs | None = None


MemberNumber = Annotated[int, Field(ge=0, le=5, description="The first member is 0.")]


class MembershipPart(Part):
    """One member joins or leaves, or its process is killed or paused, at_s after the first due send."""

    at_s: Seconds
    join: MemberNumber | None = None
    leave: MemberNumber | None = None
    kill: MemberNumber | None = None
    pause: MemberNumber | None = None
    for_s: Annotated[float, Field(ge=2, le=60, allow_inf_nan=False, description="How long a pause lasts.")] | None = (
        None
    )


Tag = Annotated[str, Field(pattern=r"^[^\s|]+$", max_length=64)]


QueueText = Annotated[
    str, Field(pattern=r"^[a-z]/(0|[1-9][0-9]{0,2})$", description="A queue: letter of the broker, queue id.")
]


class ApplicationPart(Part):
    """A call of a member's application about one queue, between two polls, at_s after the first due send."""

    at_s: Seconds
    member: MemberNumber = 0
    seek: QueueText | None = None
    offset: Annotated[int, Field(ge=0, le=1_000_000, description="Of a seek.")] | None = None
    seek_to_begin: QueueText | None = None
    seek_to_end: QueueText | None = None
    pause: QueueText | None = None
    resume: QueueText | None = None


class ConsumersPart(Part):
    """The group of each arm."""

    members: Annotated[int, Field(ge=1, le=6)]
    listener: ListenerName
    model: ModelName = MessageModel.CLUSTERING.value
    allocation: AllocationName = Allocation.AVG.value
    settings: SettingsPart = SettingsPart()
    properties: PropertiesPart = PropertiesPart()
    work_ms: WorkMs = 0
    rules: list[RulePart] = []
    membership: list[MembershipPart] = []
    mix: Annotated[
        MixName, Field(description="alternate: members 1, 3 and 5 of the candidate's group run the baseline.")
    ] = Mix.NONE.value
    commits: Annotated[
        CommitsName, Field(description="sync: the application of a lite pull consumer, after its work on each poll.")
    ] = Commits.AUTO.value
    tags: Annotated[list[Tag], Field(description="Those that the group subscribes to; none for every message.")] = []
    assign: Annotated[
        list[Annotated[list[QueueText], Field(min_length=1)]],
        Field(
            description="Queues of each lite pull consumer, which its application assigns; none: the members subscribe."
        ),
    ] = []
    application: Annotated[
        list[ApplicationPart], Field(description="Calls of the applications of lite pull consumers.")
    ] = []
    drain_s: Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)] = 20.0


class ConsumerScenarioFile(ScenarioFile):
    """A scenario about consumers, whose workload the feeder sends."""

    consumers: ConsumersPart
    checks: Annotated[list[GroupCheckName], Field(min_length=1, json_schema_extra={"uniqueItems": True})]
    suites: Annotated[list[SuiteName], Unique] = ["consumers"]
    tolerances: dict[GroupDurationCheck, TolerancePart] = {}
