"""One sealed Parquet file: written whole or not at all, and read back only if it is what it says."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from harness.core.errors import TraceError
from harness.core.events import Arm
from harness.traces.disk import replacing
from harness.traces.schema import SCHEMAS, SORT_KEYS, TableName, completed
from harness.traces.statement import FileStatement, integers, read_statement, stamp, state, verify

Columns = Mapping[str, Sequence[object]]


def sorted_table(name: TableName, columns: Columns) -> pa.Table:
    """Build a table of the published schema from columns of Python values, in the published order of rows."""
    schema = SCHEMAS[name]
    table = pa.table([pa.array(columns[field.name], type=field.type) for field in schema], schema=schema)
    order = np.lexsort([integers(table, key) for key in reversed(SORT_KEYS[name])])
    return table.take(pa.array(order, type=pa.int64()))


def write_sealed(
    path: Path, table: pa.Table, *, run: str, name: TableName, case: int, arm: Arm | None, subject: str | None
) -> FileStatement:
    """
    Write a sorted table with its statement, verified first, replacing an older file at once.

    Raises TraceError when the rows cannot be stated as whole groups, EnvironmentMissing when the disk is full.
    """
    statement = state(table, run=run, name=name, case=case, arm=arm, subject=subject)
    verify(table, statement, where=path.name)
    words = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    with replacing(path) as temporary:
        pq.write_table(
            stamp(table, statement),
            temporary,
            use_dictionary=words,  # type: ignore[arg-type]  # a list of columns is documented, the stub knows bool only
        )
    return statement


def read_sealed(path: Path) -> tuple[pa.Table, FileStatement]:
    """
    Read one file with its statement, every row checked against it.

    Raises TraceError when it is missing, damaged, of an unknown major version, or not what it says.
    """
    where = f"{path.parent.name}/{path.name}"
    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
    except FileNotFoundError as problem:
        raise TraceError(f"a sealed table {where}", seen="no such file", hint="seal the run first") from problem
    except (OSError, pa.ArrowException) as problem:
        raise TraceError(f"a readable Parquet file {where}", seen=str(problem), hint="seal the run again") from problem
    statement = read_statement(table.schema, where=where)
    table = _completed(table.replace_schema_metadata(None), statement.table, where)
    verify(table, statement, where=where)
    return table, statement


def _completed(table: pa.Table, name: TableName, where: str) -> pa.Table:
    try:
        return completed(table, name)
    except (KeyError, pa.ArrowException) as problem:
        columns = ", ".join(f"{field.name} {field.type}" for field in table.schema)
        raise TraceError(
            f"the columns of this schema version in {where}", seen=columns, hint="seal the run again from its journal"
        ) from problem


def read_file_statement(path: Path) -> FileStatement:
    """What a file says it holds, without reading its rows."""
    where = f"{path.parent.name}/{path.name}"
    try:
        schema = pq.read_schema(path)
    except (OSError, pa.ArrowException) as problem:
        raise TraceError(f"a readable Parquet file {where}", seen=str(problem), hint="seal the run again") from problem
    return read_statement(schema, where=where)
