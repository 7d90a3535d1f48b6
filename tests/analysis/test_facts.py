"""The schema of facts, in Arrow and for Spark."""

from dataclasses import dataclass

import pyarrow as pa

from rocketdiff.analysis.facts import arrow_type
from rocketdiff.core.arm import Arm


@dataclass(frozen=True)
class Place:
    """One of several."""

    arm: Arm
    share: float


@dataclass(frozen=True)
class Row:
    """A field of each kind."""

    text: str
    n: int
    more: int | None
    figures: dict[str, object]
    places: tuple[Place, ...]


def test_the_types_of_a_row() -> None:
    """A word is a string, an optional value that of its kind, any JSON a string, a tuple a list, a dataclass a struct."""
    kind = arrow_type(Row)
    assert isinstance(kind, pa.StructType)
    place = pa.struct([pa.field("arm", pa.string()), pa.field("share", pa.float64())])
    assert {field.name: field.type for field in kind} == {
        "text": pa.string(),
        "n": pa.int64(),
        "more": pa.int64(),
        "figures": pa.string(),
        "places": pa.list_(place),
    }
