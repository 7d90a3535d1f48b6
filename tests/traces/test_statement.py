"""A file that contradicts its statement is refused, above all with a split or unordered group."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import TraceError
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.sealed_file import (
    STATEMENT_KEY,
    VERSION_KEY,
    integers,
    read_sealed,
    sorted_table,
    stamp,
    state,
    verify,
    write_sealed,
)
from rocketdiff.traces.tables import TABLES


def attempts(keys: list[tuple[int, int, int]], *, case: int = 1, arm: int = 0) -> dict[str, list[object]]:
    columns: dict[str, list[object]] = {name: [] for name in TABLES[TableName.ATTEMPTS].schema.names}
    for thread, send, attempt in keys:
        row = (case, arm, thread, send, attempt, "broker-a", 0, 5, 6, "ok", "none", None, None, "SEND_OK", None)
        for name, value in zip(columns, row, strict=True):
            columns[name].append(value)
    return columns


def unsorted(columns: dict[str, list[object]]) -> pa.Table:
    schema = TABLES[TableName.ATTEMPTS].schema
    return pa.table([pa.array(columns[field.name], type=field.type) for field in schema], schema=schema)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a table with a true or a false statement, unchecked."""

    def write(table: pa.Table, /, **claims: object) -> Path:
        statement = state(table, run="r", name=TableName.ATTEMPTS, case=1, arm=Arm.BASELINE, subject="java:5.3.3")
        claimed = msgspec.convert(msgspec.to_builtins(statement) | claims, type(statement))
        path = tmp_path / "01-baseline.parquet"
        pq.write_table(stamp(table, claimed), path)
        return path

    return write


def test_a_table_is_written_sorted_and_read_equal(tmp_path: Path) -> None:
    """A table is written sorted and read equal, with its groups."""
    path = tmp_path / "attempts" / "01-baseline.parquet"
    table = sorted_table(TableName.ATTEMPTS, attempts([(1, 2, 0), (0, 1, 1), (0, 1, 0)]))
    write_sealed(path, table, run="r", name=TableName.ATTEMPTS, case=1, arm=Arm.BASELINE, subject="java:5.3.3")
    read, statement = read_sealed(path)
    assert read.equals(table)
    assert statement.groups == ((0, 2), (1, 1))
    assert (statement.run, statement.case, statement.arm, statement.subject) == ("r", 1, Arm.BASELINE, "java:5.3.3")


def test_empty_table_round_trips(tmp_path: Path) -> None:
    """The file of a silent subject has no groups."""
    path = tmp_path / "01-candidate.parquet"
    table = sorted_table(TableName.ATTEMPTS, attempts([]))
    write_sealed(path, table, run="r", name=TableName.ATTEMPTS, case=1, arm=Arm.CANDIDATE, subject="toy:dies")
    read, statement = read_sealed(path)
    assert (read.num_rows, statement.rows, statement.groups) == (0, 0, ())


@pytest.mark.parametrize(
    "keys",
    [[(0, 1, 0), (1, 2, 0), (0, 3, 0)], [(0, 2, 0), (0, 1, 0)], [(0, 1, 0), (0, 1, 0)], [(0, 1, 1), (0, 1, 0)]],
    ids=["split group", "sends out of order", "row twice", "attempts out of order"],
)
def test_wrong_layout_is_refused(write: Callable[..., Path], keys: list[tuple[int, int, int]]) -> None:
    """Split, unordered and duplicate rows are refused, because judging would be silently wrong."""
    with pytest.raises(TraceError, match="rows rising strictly"):
        read_sealed(write(unsorted(attempts(keys))))


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({"rows": 3}, "3 rows as stated"),
        ({"groups": [[0, 1], [1, 1]]}, "whole groups"),
        ({"case": 2}, "only case 2"),
        ({"arm": "candidate"}, "only arm 1"),
        ({"arm": None}, "an arm named"),
        ({"table": "sends"}, "columns of this schema"),
    ],
)
def test_false_statement_is_refused(write: Callable[..., Path], claims: dict[str, object], message: str) -> None:
    """A statement that contradicts its rows is refused."""
    with pytest.raises(TraceError, match=message):
        read_sealed(write(unsorted(attempts([(0, 1, 0), (0, 2, 0)])), **claims))


@pytest.mark.parametrize("version", [b"2.0", b"0.9", b"banana", None])
def test_unknown_major_is_refused(tmp_path: Path, version: bytes | None) -> None:
    """A file of another major version, or of none, is refused."""
    table = unsorted(attempts([(0, 1, 0)]))
    metadata = {STATEMENT_KEY: b"{}"} | ({VERSION_KEY: version} if version else {})
    pq.write_table(table.replace_schema_metadata(metadata), tmp_path / "f.parquet")
    with pytest.raises(TraceError, match=r"schema version 1\.x"):
        read_sealed(tmp_path / "f.parquet")


def test_newer_minor_is_read(tmp_path: Path) -> None:
    """A file of a newer minor version is read, because it only adds."""
    table = unsorted(attempts([(0, 1, 0)]))
    statement = state(table, run="r", name=TableName.ATTEMPTS, case=1, arm=Arm.BASELINE, subject="s")
    metadata = {VERSION_KEY: b"1.7", STATEMENT_KEY: msgspec.json.encode(statement)}
    pq.write_table(table.replace_schema_metadata(metadata), tmp_path / "f.parquet")
    assert read_sealed(tmp_path / "f.parquet")[0].num_rows == 1


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all"])
def test_damaged_file_is_one_clear_error(tmp_path: Path, content: bytes) -> None:
    """A truncated or foreign file is reported as damaged, with a remedy."""
    (tmp_path / "f.parquet").write_bytes(content)
    with pytest.raises(TraceError, match="restore the run directory from a copy"):
        read_sealed(tmp_path / "f.parquet")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50), st.integers(0, 4)), unique=True, max_size=40))
def test_any_rows_can_be_sealed(keys: list[tuple[int, int, int]]) -> None:
    """Rows can be sealed in any order of arrival."""
    table = sorted_table(TableName.ATTEMPTS, attempts(keys))
    verify(table, state(table, run="r", name=TableName.ATTEMPTS, case=1, arm=Arm.BASELINE, subject="s"), where="test")
    seen = zip(*(table.column(name).to_pylist() for name in ("thread", "send", "attempt")), strict=True)
    assert list(seen) == sorted(keys)


def test_words_rank_as_words_over_several_dictionaries() -> None:
    """Words are ranked alike in chunks with different dictionaries."""
    chunks = [pa.array(words).dictionary_encode() for words in (["b", "a"], ["c", "a"])]
    table = pa.Table.from_arrays([pa.chunked_array(chunks)], names=["broker"])
    assert integers(table, "broker").tolist() == [1, 0, 2, 0]
    assert integers(table, "broker").dtype == np.int64
