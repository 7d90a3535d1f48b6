"""The schema of facts, in Arrow and for Spark."""

import pyarrow as pa

from rocketdiff.analysis.facts import ARROW_SCHEMA, SPARK_SCHEMA


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
