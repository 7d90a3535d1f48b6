"""What is wrong with a file that people write: the place in the file, what was expected there, what was seen."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from rocketdiff.core.errors import UsageError
from rocketdiff.documents.part import Part
from rocketdiff.documents.refusal import Words, dotted, read_part


class Door(Part):
    """A part of one kind."""

    kind: Literal["door"]
    width_cm: Annotated[int, Field(ge=60, le=200)]


class Window(Part):
    """A part of another kind, with a field of its own."""

    kind: Literal["window", "skylight"]
    panes: int


class House(Part):
    """Something of every kind of field."""

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
    """How a house is refused that is sound but for these fields."""
    with pytest.raises(UsageError) as raised:
        read_part(House, {"name": "mill", **fields}, lambda location: f"{len(location)} deep", WORDS)
    return str(raised.value)


@pytest.mark.parametrize(
    ("fields", "told"),
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
def test_a_refusal_says_what_where_and_what_was_seen(fields: dict[str, Any], told: str) -> None:
    """Of a union, the member that was meant; of a closed set, its values; of an unknown field, the known ones."""
    assert told in message(**fields)


def test_a_part_of_a_file_is_told_with_its_place_in_the_file() -> None:
    """What stands above the part comes before its own fields."""
    with pytest.raises(UsageError, match=r"a whole number at doors\[3\]\.width_cm \(3 deep\)"):
        read_part(
            Door, {"kind": "door", "width_cm": "x"}, lambda location: f"{len(location)} deep", WORDS, ("doors", 3)
        )


def test_what_is_no_mapping_is_refused_at_the_top_level() -> None:
    """As an empty file is."""
    with pytest.raises(UsageError, match="a mapping at the top level"):
        read_part(House, None, dotted, WORDS)
