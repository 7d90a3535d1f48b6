"""The schema of facts, in Arrow and for Spark, and values of columns."""

from dataclasses import dataclass

import pyarrow as pa
import pytest

from rocketdiff.analysis.case_trace import values_of
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


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([3, 1, 2], pa.int64()),
        ([3, None, 2], pa.int64()),
        ([None, None], pa.int64()),
        ([], pa.int64()),
        (["b", "a", "b"], pa.string()),
        (["b", None, "a", "a"], pa.string()),
        ([True, None], pa.bool_()),
        ([1.5, 2.0], pa.float64()),
    ],
)
def test_values_of_a_column(values: list[object], kind: pa.DataType) -> None:
    """Values, with None for a null; also of words that are coded by a dictionary."""
    column = pa.array(values, kind)
    assert values_of(column) == values
    assert [type(value) for value in values_of(column)] == [type(value) for value in values]
    if kind == pa.string():
        assert values_of(column.dictionary_encode()) == values
