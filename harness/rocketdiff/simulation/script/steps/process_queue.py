"""The steps of one queue's pulled messages (ProcessQueue), which a script puts, takes and removes by offset."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from rocketdiff.simulation.script.vocabulary import Natural

Offsets = Annotated[tuple[Natural, ...], Field(max_length=10_000)]
Bytes = Annotated[int, Field(ge=0, le=4 * 1024 * 1024, description="Of each message's body; 0: it has none.")]


@dataclass(frozen=True, slots=True)
class Put:
    """Messages were pulled: prints whether a call of an orderly listener has to be asked for."""

    do: Literal["put"] = field(default="put", kw_only=True, repr=False)
    offsets: Offsets
    bytes: Bytes = 1


@dataclass(frozen=True, slots=True)
class Remove:
    """Messages are finished: prints the offset to commit, null for none."""

    do: Literal["remove"] = field(default="remove", kw_only=True, repr=False)
    offsets: Offsets


@dataclass(frozen=True, slots=True)
class Take:
    """An orderly call takes the first messages: prints their offsets."""

    do: Literal["take"] = field(default="take", kw_only=True, repr=False)
    count: Annotated[int, Field(ge=1, le=10_000)] = 1


@dataclass(frozen=True, slots=True)
class Commit:
    """What was taken is finished: prints the offset to commit."""

    do: Literal["commit"] = field(default="commit", kw_only=True, repr=False)


@dataclass(frozen=True, slots=True)
class Rollback:
    """What was taken is put back."""

    do: Literal["rollback"] = field(default="rollback", kw_only=True, repr=False)


@dataclass(frozen=True, slots=True)
class ConsumeAgain:
    """Some messages are put back for another call."""

    do: Literal["consume_again"] = field(default="consume_again", kw_only=True, repr=False)
    offsets: Offsets


@dataclass(frozen=True, slots=True)
class Pulled:
    """An attempt to pull is made, which keeps the queue from being given up."""

    do: Literal["pulled"] = field(default="pulled", kw_only=True, repr=False)


ProcessQueueStep = Put | Remove | Take | Commit | Rollback | ConsumeAgain | Pulled

PROCESS_QUEUE_STEPS = (Put, Remove, Take, Commit, Rollback, ConsumeAgain, Pulled)
