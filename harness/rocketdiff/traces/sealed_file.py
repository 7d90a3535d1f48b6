"""
One sealed Parquet file: written atomically, and read only if its rows agree with its statement.

The oracle keeps state over a group (case, arm, thread) and would silently misjudge one that is split or out of order. So the
metadata of every file states its groups and their sizes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import TraceError
from rocketdiff.core.files import open_regular, regular_bytes
from rocketdiff.core.text.quoted import words_of
from rocketdiff.traces.recorder import digest_of, replacing
from rocketdiff.traces.schema import (
    ARM_CODES,
    SCHEMA_VERSION,
    Columns,
    TableName,
    minor_of,
    require_known_version,
)
from rocketdiff.traces.tables import TABLES, completed

VERSION_KEY = b"rocketdiff.schema"
STATEMENT_KEY = b"rocketdiff.statement"

REPAIR = "restore the run directory from a copy, or run the command again that run.json has as reproduce"
"""Hint for a missing or damaged table; no command seals a run again."""


@dataclass(frozen=True, slots=True)
class FileStatement:
    """
    Statement of one file: run, table, case, arm and whole groups.

    arm and subject are None for a table of the whole case. groups: (thread or member, rows) in file order; a table without
    them has the single group (0, rows), or none if it is empty.
    """

    run: str
    table: TableName
    case: int
    arm: Arm | None
    subject: str | None
    rows: int
    groups: tuple[tuple[int, int], ...]


def state(
    table: pa.Table, *, run: str, name: TableName, case: int, arm: Arm | None, subject: str | None
) -> FileStatement:
    """Return the statement of a sorted table."""
    return FileStatement(run, name, case, arm, subject, table.num_rows, _groups(table, name))


def stamp(table: pa.Table, statement: FileStatement) -> pa.Table:
    """Return the table with its statement and the schema version as metadata."""
    return table.replace_schema_metadata(
        {VERSION_KEY: SCHEMA_VERSION.encode(), STATEMENT_KEY: msgspec.json.encode(statement)}
    )


def read_statement(schema: pa.Schema, *, where: str) -> FileStatement:
    """Return the statement in a file's schema; raises TraceError if it is missing or of an unknown major version."""
    metadata = schema.metadata or {}
    version = metadata.get(VERSION_KEY)
    require_known_version(version.decode(errors="replace") if version is not None else None, where=where)
    try:
        return msgspec.json.decode(metadata.get(STATEMENT_KEY, b""), type=FileStatement)
    except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
        raise TraceError(f"a statement of its groups in {where}", seen=str(problem), hint=REPAIR) from problem


def verify(table: pa.Table, statement: FileStatement, *, where: str) -> None:
    """Raise TraceError unless the rows agree with the statement and have the order that the oracle needs."""
    if not table.schema.equals(TABLES[statement.table].schema):
        columns = ", ".join(f"{field.name} {field.type}" for field in table.schema)
        _require(False, "the columns of this schema version", columns, where)
    _require(table.num_rows == statement.rows, f"{statement.rows} rows as stated", table.num_rows, where)
    _require_constant(table, "case", statement.case, where)
    if "arm" in table.column_names:
        if statement.arm is None:
            raise TraceError(f"an arm named in {where}", seen="none", hint=REPAIR)
        _require_constant(table, "arm", ARM_CODES[statement.arm], where)
    groups = _groups(table, statement.table)
    _require(groups == statement.groups, f"whole groups {statement.groups} as stated", groups, where)
    keys = TABLES[statement.table].keys
    _require(_rises_strictly(table, keys), f"rows rising strictly by {', '.join(keys)}", "another order", where)


def _require(holds: bool, expected: str, seen: object, where: str) -> None:
    if not holds:
        raise TraceError(f"{expected} in {where}", seen=str(seen), hint=REPAIR)


def _require_constant(table: pa.Table, column: str, value: int, where: str) -> None:
    values = integers(table, column)
    if not bool((values == value).all()):
        _require(False, f"only {column} {value}", np.unique(values).tolist(), where)


def integers(table: pa.Table, column: str) -> npt.NDArray[np.int64]:
    """Return a column without nulls as int64; a word becomes its rank, so that the numbers sort as the words."""
    data = table.column(column)
    if not pa.types.is_dictionary(data.type):
        return np.asarray(data.to_numpy(), dtype=np.int64)
    coded = data.unify_dictionaries().combine_chunks()
    assert isinstance(coded, pa.DictionaryArray)
    words = [str(word) for word in coded.dictionary.to_pylist()]
    ranks = {word: rank for rank, word in enumerate(sorted(words))}
    rank_of_code = np.array([ranks[word] for word in words], dtype=np.int64)
    return np.take(rank_of_code, np.asarray(coded.indices.to_numpy(), dtype=np.int64))


def _groups(table: pa.Table, name: TableName) -> tuple[tuple[int, int], ...]:
    """Return (thread, rows), or (member, rows), of each run of equal ones; one that appears twice was split."""
    if table.num_rows == 0:
        return ()
    group = TABLES[name].group
    if group not in table.column_names:
        return ((0, table.num_rows),)
    threads = integers(table, group)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(threads)) + 1))
    sizes = np.diff(np.concatenate((starts, [threads.size])))
    return tuple((int(threads[start]), int(size)) for start, size in zip(starts, sizes, strict=True))


def _rises_strictly(table: pa.Table, keys: tuple[str, ...]) -> bool:
    if table.num_rows < 2:
        return True
    undecided = np.ones(table.num_rows - 1, dtype=np.bool_)
    for key in keys:
        steps = np.diff(integers(table, key))
        if bool((undecided & (steps < 0)).any()):
            return False
        undecided &= steps == 0
    return not bool(undecided.any())


UNREADABLE = (OSError, ValueError, pa.ArrowException)
"""Exceptions of pyarrow for a damaged file; invalid UTF-8 is a ValueError."""


def sorted_table(name: TableName, columns: Columns) -> pa.Table:
    """Build a table with the published schema and row order from columns of Python values."""
    schema = TABLES[name].schema
    table = pa.table([pa.array(columns[field.name], type=field.type) for field in schema], schema=schema)
    order = np.lexsort([integers(table, key) for key in reversed(TABLES[name].keys)])
    return table.take(pa.array(order, type=pa.int64()))


def write_sealed(
    path: Path, table: pa.Table, *, run: str, name: TableName, case: int, arm: Arm | None, subject: str | None
) -> tuple[FileStatement, str]:
    """
    Verify a sorted table and write it with its statement, replacing an older file atomically; returns statement and digest.

    Raises TraceError if the rows are invalid, EnvironmentMissing if the disk is full.
    """
    statement = state(table, run=run, name=name, case=case, arm=arm, subject=subject)
    verify(table, statement, where=path.name)
    sink = pa.BufferOutputStream()
    pq.write_table(
        stamp(table, statement),
        sink,
        use_dictionary=_of_kind(table, pa.types.is_dictionary),  # type: ignore[arg-type]  # documented, the stub knows bool only
        column_encoding=dict.fromkeys(_of_kind(table, pa.types.is_int64), "DELTA_BINARY_PACKED"),
        compression="lz4",
    )
    content = sink.getvalue().to_pybytes()
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    return statement, digest_of(content)


def _of_kind(table: pa.Table, is_kind: Callable[[pa.DataType], bool]) -> list[str]:
    """
    Return the names of the columns of a kind.

    200,000 sends: delta-encoded int64 columns with LZ4 are read 2.7 times as fast as plain ones with Snappy, in 40 % of the space
    (2026-11-23).
    """
    return [field.name for field in table.schema if is_kind(field.type)]


MANY_ROWS = 50_000
"""From so many rows on, a file is read by several threads; handing a small one to them costs a third of reading it."""


def read_sealed(path: Path, digest: str | None = None) -> tuple[pa.Table, FileStatement]:
    """
    Read one file and verify its rows against its statement. digest: of the file, from ``run.json``.

    Raises TraceError if it is missing, damaged, altered, inconsistent or of an unknown major version.
    """
    where = f"{path.parent.name}/{path.name}"
    try:
        content = regular_bytes(path)
        if digest is not None and digest_of(content) != digest:
            raise TraceError(
                f"{where} as it was sealed",
                seen="other bytes: its digest has changed",
                hint=REPAIR,
            )
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            table = file.read(use_threads=file.metadata.num_rows >= MANY_ROWS)
    except FileNotFoundError as problem:
        raise TraceError(f"a sealed table {where}", seen="no such file", hint=REPAIR) from problem
    except UNREADABLE as problem:
        raise TraceError(f"a readable Parquet file {where}", seen=words_of(problem), hint=REPAIR) from problem
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
    """Return a file's statement and minor schema version, without reading its rows."""
    where = f"{path.parent.name}/{path.name}"
    try:
        with open_regular(path) as file:
            schema = pq.read_schema(file)
    except UNREADABLE as problem:
        raise TraceError(f"a readable Parquet file {where}", seen=words_of(problem), hint=REPAIR) from problem
    return read_statement(schema, where=where), minor_of((schema.metadata or {})[VERSION_KEY].decode())
