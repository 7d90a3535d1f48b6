"""
How the tables of a run lie on disk, and therefore how they can be judged.

WHOLE: as sealed, every file whole groups of one case and arm, so a case can be judged where its files are read.
FOREIGN: rewritten by some other program (Spark's own ``part-…`` files, say), groups split over files; the rows have to
be brought together first, because the oracle judges a split group wrongly without a sound.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from harness.analysis.case_trace import CaseTrace, TableKey
from harness.core.errors import TraceError
from harness.core.events import Arm
from harness.traces.layout import case_and_arm
from harness.traces.reader import sealed_files
from harness.traces.run_directory import RunDirectory
from harness.traces.schema import ARM_OF_CODE, SORT_KEYS, TableName, completed
from harness.traces.sealed_file import sorted_table


class Layout(StrEnum):
    """Whether a run's files can be judged one case at a time."""

    WHOLE = "whole"
    FOREIGN = "foreign"


def layout_of(run: RunDirectory) -> Layout:
    """
    Look at the names and statements of a run's files.

    A file with a name of ours that is not what it says is no foreign layout but damage: TraceError.
    """
    if any(_is_foreign(path) for table in TableName for path in (run.path / table).glob("*.parquet")):
        return Layout.FOREIGN
    for table in TableName:
        sealed_files(run, table)
    return Layout.WHOLE


def _is_foreign(path: Path) -> bool:
    try:
        case_and_arm(path)
    except TraceError:
        return True
    return False


def foreign_files(run: RunDirectory) -> tuple[tuple[TableName, Path], ...]:
    """Every Parquet file of every table, by name."""
    return tuple((table, path) for table in TableName for path in sorted((run.path / table).glob("*.parquet")))


def pieces(table: TableName, path: Path) -> Iterator[tuple[int, Arm | None, pa.Table]]:
    """
    Rows of one foreign file by case and arm.

    Raises TraceError when it lacks a column of this schema or cannot be read.
    """
    where = f"{path.parent.name}/{path.name}"
    try:
        content = pq.read_table(path, partitioning=None)
        rows = completed(content, table)
    except (OSError, KeyError, pa.ArrowException) as problem:
        raise TraceError(
            f"the columns of {table} in {where}", seen=str(problem), hint="seal the run again"
        ) from problem
    has_arm = "arm" in rows.column_names
    keys = rows.group_by(["case", "arm"] if has_arm else ["case"]).aggregate([]).to_pylist()
    for key in keys:
        chosen = pa.compute.equal(rows.column("case"), key["case"])
        if has_arm:
            chosen = pa.compute.and_(chosen, pa.compute.equal(rows.column("arm"), key["arm"]))
        yield key["case"], ARM_OF_CODE[key["arm"]] if has_arm else None, rows.filter(chosen)


def assembled(run: RunDirectory, number: int, parts: Sequence[tuple[TableKey, pa.Table]]) -> CaseTrace:
    """
    One case out of the pieces of several files, in the order the oracle reads.

    Raises TraceError when a row is there twice: nobody can say which one to believe.
    """
    tables: dict[TableKey, pa.Table] = {}
    for key in dict(parts):
        rows = pa.concat_tables([part for other, part in parts if other == key], promote_options="permissive")
        columns = {name: rows.column(name).to_pylist() for name in rows.column_names}
        table = sorted_table(key[0], columns)
        names = list(SORT_KEYS[key[0]])
        if table.group_by(names).aggregate([]).num_rows != table.num_rows:
            raise TraceError(
                f"every row of {key[0]} of case {number} once", seen="a row twice", hint="seal the run again"
            )
        tables[key] = table
    return CaseTrace(run.run, run.manifest.subjects, run.entry(number), tables)


def foreign_cases(run: RunDirectory) -> Iterator[CaseTrace]:
    """Every case of one such run, put together in this process."""
    parts: dict[int, list[tuple[TableKey, pa.Table]]] = {}
    for table, file in foreign_files(run):
        for number, arm, rows in pieces(table, file):
            parts.setdefault(number, []).append(((table, arm), rows))
    for number in sorted(parts):
        yield assembled(run, number, parts[number])
