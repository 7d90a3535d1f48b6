"""Errors in files that people write: the place, what was expected, what was seen."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import ConfigDict, Field

from rocketdiff.core.errors import UsageError
from rocketdiff.documents.part import STRICT, Part, WrittenAs
from rocketdiff.documents.refusal import Words, dotted, read_json, read_part, rule_broken


class Door(Part):
    """A part of one kind."""

    kind: Literal["door"]
    width_cm: Annotated[int, Field(ge=60, le=200)]


class Window(Part):
    """A part of another kind, with a field of its own."""

    kind: Literal["window", "skylight"]
    panes: int


class House(Part):
    """A part with every kind of field."""

    name: Annotated[str, Field(pattern=r"^[a-z]+$")]
    code: Annotated[str, Field(alias="postCode", min_length=5)] = "12345"
    openings: list[Annotated[Door | Window, Field(discriminator="kind")]] = Field(default_factory=list)
    colour: Literal["red or so", "blue"] = "blue"
    floors: Annotated[int, Field(ge=0)] | Annotated[list[int], Field(min_length=1)] = 1
    rooms: dict[Literal["kitchen", "bath"], Door] = Field(default_factory=dict)
    by_letter: dict[str, Door] = Field(default_factory=dict)
    owner: str = ""


WORDS = Words(
    fields={"owner": "somebody's name"},
    patterns={"name": "a word"},
    unions={"kind": "an opening"},
    unknown={(Window, "width_cm"): "only doors have one"},
)


def message(**fields: Any) -> str:
    """Return the refusal of a valid house with these fields."""
    with pytest.raises(UsageError) as raised:
        read_part(House, {"name": "mill", **fields}, lambda location: f"{len(location)} deep", WORDS)
    return str(raised.value)


@pytest.mark.parametrize(
    ("fields", "expected_text"),
    [
        ({"name": "X"}, "expected a word at name (1 deep); saw 'X'"),
        ({"name": 1}, "expected text at name (1 deep); saw 1"),
        ({"owner": 1}, "expected somebody's name at owner (1 deep); saw 1"),
        ({"postCode": "1"}, "expected at least 5 characters at postCode"),
        ({"post_code": "1"}, "one of the fields name, postCode, openings,"),
        ({"colour": "red"}, "expected one of 'red or so', 'blue' at colour"),
        ({"floors": -1}, "expected at least 0 at floors (1 deep); saw -1"),
        ({"floors": []}, "expected at least 1 entry at floors (1 deep); saw []"),
        ({"floors": [1, "x"]}, "expected a whole number at floors[1] (2 deep); saw 'x'"),
        ({"rooms": {"hall": {}}}, "expected one of 'kitchen', 'bath' at rooms.hall"),
        ({"rooms": {"bath": {"kind": "door"}}}, "the field width_cm at rooms.bath (2 deep); saw nothing; try: add width_cm"),
        ({"openings": [{"kind": "gate"}]}, "an opening at openings[0] (2 deep); saw {'kind': 'gate'}; try: write kind: door, window or skylight"),
        ({"openings": [{"panes": 1}]}, "an opening at openings[0]"),
        ({"openings": [{"kind": "door", "width": 80}]}, "fields kind, width_cm at openings[0].width (3 deep); saw 'width'; try: width_cm"),
        ({"openings": [{"kind": "skylight", "panes": 1, "width_cm": 9}]}, "saw 'width_cm'; try: only doors have one"),
        ({"by_letter": {"kind": {"kind": "door", "wide": 1}}}, "fields kind, width_cm at by_letter.kind.wide"),
        ({"name": 1, "floors": "x", "owner": 1}, "2 more to correct after this one"),
    ],
)  # fmt: skip
def test_a_refusal_names_place_expected_and_seen(fields: dict[str, Any], expected_text: str) -> None:
    """A refusal names the meant member of a union, a closed set's values, or the known fields."""
    assert expected_text in message(**fields)


def test_a_part_is_refused_with_its_place_in_the_file() -> None:
    """The location of a part in the file precedes its own fields."""
    with pytest.raises(UsageError, match=r"a whole number at doors\[3\]\.width_cm \(3 deep\)"):
        read_part(
            Door, {"kind": "door", "width_cm": "x"}, lambda location: f"{len(location)} deep", WORDS, ("doors", 3)
        )


def test_data_that_is_no_mapping_is_refused_at_the_top_level() -> None:
    """Data that is no mapping, like an empty file, is refused at the top level."""
    with pytest.raises(UsageError, match="a mapping at the top level"):
        read_part(House, None, dotted, WORDS)


class Colour(StrEnum):
    """A closed set."""

    RED = "red"
    BLUE = "blue"


def _sides(form: int | list[int]) -> tuple[int, ...]:
    sides = tuple(form) if isinstance(form, list) else (form,)
    if 0 in sides:
        raise rule_broken("sides that are there", hint="leave it out")
    return sides


@dataclass(frozen=True, slots=True)
class Circle:
    """A step of one kind."""

    radius: Annotated[int, Field(ge=1)]
    do: Literal["circle"] = "circle"


@dataclass(frozen=True, slots=True)
class Polygon:
    """A step with a field named like a kind, and one with another form in the file."""

    sides: Annotated[tuple[int, ...], WrittenAs(int | list[int], _sides)]
    circle: Colour = Colour.RED
    do: Literal["polygon"] = "polygon"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A format of JSON files."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    steps: tuple[Annotated[Circle | Polygon, Field(discriminator="do")], ...]


def drawing(*steps: object) -> Drawing:
    return read_json(Drawing, {"steps": list(steps)}, lambda _: "J", Words(unions={"do": "a step"}))


def test_data_of_json_is_read_as_dataclasses() -> None:
    """JSON is read as dataclasses, with enum members, tuples and values of another form."""
    assert drawing({"do": "circle", "radius": 2}, {"do": "polygon", "sides": 3, "circle": "blue"}) == Drawing(
        (Circle(2), Polygon((3,), Colour.BLUE))
    )


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"do": "circle", "radius": 0}, "at least 1 at steps[0].radius (J); saw 0"),
        ({"do": "circle", "radius": "2"}, "a whole number at steps[0].radius (J); saw '2'"),
        ({"do": "circle"}, "the field radius at steps[0] (J); saw nothing; try: add radius"),
        ({"do": "circle", "circle": 1, "radius": 1}, "fields radius, do at steps[0].circle (J); saw 'circle'"),
        ({"do": "polygon", "sides": 3, "cicle": "red"}, "at steps[0].cicle (J); saw 'cicle'; try: circle"),
        ({"do": "polygon", "sides": 3, "circle": "Blu"}, "one of 'red', 'blue' at steps[0].circle (J); saw 'Blu'; try: blue"),
        ({"do": "polygon", "sides": [3, None]}, "a whole number at steps[0].sides[1] (J); saw null"),
        ({"do": "polygon", "sides": 0}, "sides that are there at steps[0].sides (J); saw 0; try: leave it out"),
        ({"do": "polygn"}, "a step at steps[0] (J); saw {'do': 'polygn'}; try: write do: polygon"),
        (4, "a mapping at steps[0] (J); saw 4"),
    ],
)  # fmt: skip
def test_wrong_json_is_refused_likewise(step: object, message: str) -> None:
    """JSON is refused likewise: with the nearest known name, by a format's own rule, and for a field named like a kind."""
    with pytest.raises(UsageError) as raised:
        drawing(step)
    assert message in str(raised.value)


def test_a_file_in_which_everything_is_wrong_is_refused_at_once() -> None:
    """A file with thousands of errors is refused at once: not all are counted."""
    with pytest.raises(UsageError, match=r"at steps\[0\].radius .*: at least 999 more to correct"):
        drawing(*[{"do": "circle", "radius": 0}] * 5_000)
