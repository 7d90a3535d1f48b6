"""The schema of facts, in Arrow and for Spark, and values of columns."""

from dataclasses import dataclass

import pyarrow as pa
import pytest

from rocketdiff.analysis.case_trace import rows_of, values_of
from rocketdiff.analysis.facts import (
    KINDS,
    CaseFact,
    DifferenceFact,
    Fact,
    LaneBar,
    OutageValue,
    Tally,
    Trouble,
    arrow_type,
    batches,
    difference_of,
)
from rocketdiff.core.answers.plots import LaneAttempt
from rocketdiff.core.answers.verdict import SideExample
from rocketdiff.core.arm import Arm
from tests.analysis.builders import fault


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
    assert rows_of(pa.table({"one": column})) == [{"one": value} for value in values]
    assert [type(value) for value in values_of(column)] == [type(value) for value in values]
    if kind == pa.string():
        assert values_of(column.dictionary_encode()) == values


LANE = LaneAttempt("candidate", 0, 7, 0, "broker-a", 1, 2.0, 3.5, "ok", "none")
PLAIN = DifferenceFact("loss", "loss.x", "baseline", 0, -1, None, "calm", 5, 0, "this", "that")
SHOWN = DifferenceFact(
    "loss", "loss.y", "candidate", 1, 7, 2, "paused", 6, 3, "one", "two",
    sides=(SideExample("candidate", (LANE,), None), SideExample("baseline", (), None)), figures={"n": [1, None]},
)  # fmt: skip
COUNTED = Tally("loss", "candidate", "calm", "stored", 3, 1.5)


OTHERS: dict[str, Fact] = {
    "episode": OutageValue("timing", "blocked", "baseline", 1, 0.5, 2, "open"),
    "lane": LaneBar("baseline", 0, 7, 0, "broker-a", 1, 2, 3, "ok", "none", 0),
    "fault": fault(1, None),
    "trouble": Trouble("this", "that", "a hint"),
}


def test_rows_of_facts() -> None:
    """Each has one kind, in the order of the facts, at most three in a batch, and differences can be read back."""
    facts: list[Fact] = [COUNTED, SHOWN, PLAIN, COUNTED, *OTHERS.values()]
    found = list(batches([CaseFact("r", number, fact) for number, fact in enumerate(facts)], rows=3))
    assert [batch.num_rows for batch in found] == [3, 3, 2]
    rows = [row for batch in found for row in batch.to_pylist()]
    assert [(row["run"], row["number"]) for row in rows] == [("r", number) for number in range(8)]
    kinds = [[name for name in KINDS if row[name] is not None] for row in rows]
    assert kinds == [["tally"], ["difference"], ["difference"], ["tally"], *([name] for name in OTHERS)]
    assert [difference_of(row["difference"]) for row in rows[1:3]] == [SHOWN, PLAIN]
    assert [Tally(**row["tally"]) for row in (rows[0], rows[3])] == [COUNTED, COUNTED]
