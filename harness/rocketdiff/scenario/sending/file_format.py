"""The part ``workload`` of a scenario file."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.documents.part import Part

if TYPE_CHECKING:
    ModeName = str
    CallName = str
else:  # closed sets from core
    ModeName = Literal[tuple(map(str, SendMode))]
    CallName = Literal[tuple(map(str, SendKind))]

BodyBytes = Annotated[int, Field(ge=1, le=4_194_304, description="At most maxMessageSize, 4 MiB in every release.")]
Argument = Annotated[int, Field(ge=0, le=2**31 - 1)]
DelayLevel = Annotated[int, Field(ge=0, le=18, description="0: not delayed. Brokers have 18 levels by default.")]
Text = Annotated[str, Field(pattern=r"^[^\x00-\x1f]*[^\x00-\x20][^\x00-\x1f]*$", max_length=1_000)]
Seconds = Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)]


class WorkloadPart(Part):
    """A closed loop of sends with due times."""

    mode: ModeName = "sync"
    call: CallName | Annotated[list[CallName], Field(min_length=1)] = "plain"
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    rate_per_s: Annotated[float, Field(gt=0, le=5_000, allow_inf_nan=False)]
    duration_s: Seconds
    body_bytes: BodyBytes | Annotated[list[BodyBytes], Field(min_length=1)] = 128
    arguments: Literal["ascending", "random"] | Annotated[list[Argument], Field(min_length=1)] | None = None
    delay_level: DelayLevel | Annotated[list[DelayLevel], Field(min_length=1)] = 0
    keys: Annotated[list[Text], Field(min_length=1)] | None = None
    tags: Annotated[list[Text], Field(min_length=1)] | None = None
    properties: dict[Text, Text] = {}

    @property
    def calls(self) -> tuple[SendKind, ...]:
        """One or several calls in the file."""
        return tuple(map(SendKind, [self.call] if isinstance(self.call, str) else self.call))

    @property
    def delay_levels(self) -> tuple[int, ...]:
        """One or several levels in the file."""
        return (self.delay_level,) if isinstance(self.delay_level, int) else tuple(self.delay_level)
