"""The schema of facts, in Arrow and for Spark."""

import pyarrow as pa

from rocketdiff.analysis.facts import ARROW_SCHEMA, SPARK_SCHEMA, CaseFact, batches
from rocketdiff.core.tables.fault import FaultKind, FaultRecord


def test_both_schemas_name_the_same_columns_with_the_same_types() -> None:
    """The two separately written schemas are equal; a difference would appear as nulls."""
    words = {pa.string(): "string", pa.int64(): "bigint", pa.float64(): "double"}

    def spelled(kind: pa.DataType) -> str:
        if isinstance(kind, pa.StructType):
            return f"struct<{', '.join(f'{field.name}: {spelled(field.type)}' for field in kind)}>"
        if isinstance(kind, pa.ListType):
            return f"array<{spelled(kind.value_type)}>"
        return words[kind]

    assert ", ".join(f"{field.name} {spelled(field.type)}" for field in ARROW_SCHEMA) == SPARK_SCHEMA


def test_a_row_has_exactly_one_kind() -> None:
    """A row has one kind of fact; the other columns are null."""
    (batch,) = batches([CaseFact("r", 3, FaultRecord(1, FaultKind.KILL, "broker-a", 10, 20, None))])
    (row,) = batch.to_pylist()
    assert row == {
        "run": "r",
        "number": 3,
        "difference": None,
        "tally": None,
        "episode": None,
        "lane": None,
        "fault": {
            "episode": 1,
            "kind": "kill",
            "node": "broker-a",
            "inject_ns": 10,
            "injected_ns": 20,
            "proven_ns": None,
            "heal_ns": None,
            "healed_ns": None,
            "heal_proven_ns": None,
        },
        "trouble": None,
    }
