"""
The data model of a script, both for the file and for the two hosts: one frozen dataclass per kind of step.

``do`` is the step's kind in the file. A value with another form in the file is annotated with WrittenAs. Steps stand in
``steps`` by role; here they are put together.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from rocketdiff.documents.part import STRICT, WrittenAs, published_schema
from rocketdiff.documents.yaml_source import Location
from rocketdiff.simulation.script.answers import Route
from rocketdiff.simulation.script.steps.consuming import Allocate, Consumed, KnownOffset, Members, Rounds, Wake
from rocketdiff.simulation.script.steps.environment import Advance, Dump, EnvironmentAction
from rocketdiff.simulation.script.steps.process_queue import ProcessQueueStep
from rocketdiff.simulation.script.steps.sending import SelectionAction, Send, SetIndex, SetWorstIndex
from rocketdiff.simulation.script.steps.subscribing import SubscribingStep
from rocketdiff.simulation.script.vocabulary import (
    DEFAULT_SETTINGS,
    FORMAT,
    MOST_STEPS,
    Depth,
    Int32,
    Lookup,
    Ms,
    WrittenSettings,
)

# The order is that of the published schema and of messages.
Action = SelectionAction | EnvironmentAction | Send
"""The actions of a timeline."""


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


Step = (
    Action
    | Advance
    | SetIndex
    | SetWorstIndex
    | Dump
    | Timeline
    | Allocate
    | ProcessQueueStep
    | Members
    | KnownOffset
    | Consumed
    | Wake
    | Rounds
    | SubscribingStep
)


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


def actions_of(script: Script) -> Iterator[tuple[Location, Step]]:
    """Yield the steps with their places; for a timeline, the actions of its entries."""
    for number, step in enumerate(script.steps):
        if isinstance(step, Timeline):
            for entry_number, entry in enumerate(step.entries):
                yield ("steps", number, "entries", entry_number, "action"), entry.action
        else:
            yield ("steps", number), step


def schema() -> bytes:
    """Return the JSON Schema of scripts; it omits most rules that span several fields."""
    return published_schema(Script, f"script:{FORMAT}", stated=("format", "do")).encode()
