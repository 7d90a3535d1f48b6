"""All tables of a run, by name: those of every case, and those of each role."""

import pyarrow as pa

from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.traces.consuming.tables import CONSUMING_TABLES
from rocketdiff.traces.schema import GROUP, WORD, TableName, TableSpec, column
from rocketdiff.traces.sending.tables import SENDING_TABLES

FAULTS = pa.schema(
    [
        GROUP[0],
        column("episode", pa.int32()),
        column("kind", WORD),
        column("node", WORD),
        column("inject_ns", pa.int64()),
        column("injected_ns", pa.int64()),
        column("proven_ns", pa.int64(), nullable=True),
        column("heal_ns", pa.int64(), nullable=True),
        column("healed_ns", pa.int64(), nullable=True),
        column("heal_proven_ns", pa.int64(), nullable=True),
    ]
)

_SPECS = (
    *SENDING_TABLES,
    *CONSUMING_TABLES,
    TableSpec(TableName.FAULTS, FAULTS, ("episode", "node"), None, is_per_arm=False),
)

TABLES = {name: next(spec for spec in _SPECS if spec.name is name) for name in TableName}
"""Fails on import if a table has no columns."""


def tables_of(role: ClientRole) -> tuple[TableSpec, ...]:
    """Return the tables that a case of a role may have."""
    return tuple(spec for spec in TABLES.values() if spec.role in (None, role))


def completed(table: pa.Table, name: TableName) -> pa.Table:
    """Return a table of any minor version with the columns of this version: missing ones are null, unknown ones are dropped."""
    schema, present = TABLES[name].schema, table.column_names
    if present == schema.names:
        return table
    columns = [
        table.column(field.name)
        if field.name in present or not field.nullable
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)
