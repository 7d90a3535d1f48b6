"""One sealed Parquet file: written whole or not at all, and read back only if it is what it says."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rocketdiff.core.errors import TraceError
from rocketdiff.core.events import Arm
from rocketdiff.traces.disk import digest_of, replacing
from rocketdiff.traces.schema import SCHEMAS, SORT_KEYS, TableName, completed, minor_of
from rocketdiff.traces.statement import (
    REPAIR,
    VERSION_KEY,
    FileStatement,
    integers,
    read_statement,
    stamp,
    state,
    verify,
)

UNREADABLE = (OSError, ValueError, pa.ArrowException)
"""What pyarrow raises for a damaged file; words that are not UTF-8 any more are a ValueError."""

Columns = Mapping[str, Sequence[object]]


def sorted_table(name: TableName, columns: Columns) -> pa.Table:
    """Build a table of the published schema from columns of Python values, in the published order of rows."""
    schema = SCHEMAS[name]
    table = pa.table([pa.array(columns[field.name], type=field.type) for field in schema], schema=schema)
    order = np.lexsort([integers(table, key) for key in reversed(SORT_KEYS[name])])
    return table.take(pa.array(order, type=pa.int64()))


def write_sealed(
    path: Path, table: pa.Table, *, run: str, name: TableName, case: int, arm: Arm | None, subject: str | None
) -> tuple[FileStatement, str]:
    """
    Write a sorted table with its statement, verified first, replacing an older file at once; gives statement and digest.

    Raises TraceError when the rows cannot be stated as whole groups, EnvironmentMissing when the disk is full.
    """
    statement = state(table, run=run, name=name, case=case, arm=arm, subject=subject)
    verify(table, statement, where=path.name)
    words = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
    sink = pa.BufferOutputStream()
    pq.write_table(
        stamp(table, statement),
        sink,
        use_dictionary=words,  # type: ignore[arg-type]  # a list of columns is documented, the stub knows bool only
    )
    content = sink.getvalue().to_pybytes()
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    return statement, digest_of(content)


def read_sealed(path: Path, digest: str | None = None) -> tuple[pa.Table, FileStatement]:
    """
    Read one file with its statement, every row checked against it; ``digest`` is what ``run.json`` has of the file.

    Raises TraceError when it is missing, damaged, altered, of an unknown major version, or not what it says.
    """
    where = f"{path.parent.name}/{path.name}"
    try:
        content = path.read_bytes()
        if digest is not None and digest_of(content) != digest:
            raise TraceError(
                f"{where} as it was sealed",
                seen="other bytes: its digest has changed",
                hint=REPAIR,
            )
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            table = file.read()
    except FileNotFoundError as problem:
        raise TraceError(f"a sealed table {where}", seen="no such file", hint=REPAIR) from problem
    except UNREADABLE as problem:
        raise TraceError(
            f"a readable Parquet file {where}", seen=" ".join(str(problem).split()), hint=REPAIR
        ) from problem
    statement = read_statement(table.schema, where=where)
    table = _completed(table.replace_schema_metadata(None), statement.table, where)
    verify(table, statement, where=where)
    return table, statement


def _completed(table: pa.Table, name: TableName, where: str) -> pa.Table:
    try:
        return completed(table, name)
    except (KeyError, *UNREADABLE) as problem:
        columns = ", ".join(f"{field.name} {field.type}" for field in table.schema)
        raise TraceError(f"the columns of this schema version in {where}", seen=columns, hint=REPAIR) from problem


def read_file_statement(path: Path) -> tuple[FileStatement, int]:
    """What a file says it holds, and its minor version, without reading its rows."""
    where = f"{path.parent.name}/{path.name}"
    try:
        schema = pq.read_schema(path)
    except UNREADABLE as problem:
        raise TraceError(
            f"a readable Parquet file {where}", seen=" ".join(str(problem).split()), hint=REPAIR
        ) from problem
    return read_statement(schema, where=where), minor_of((schema.metadata or {})[VERSION_KEY].decode())
