"""The sealed tables of one case. Columns stay in Arrow."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rocketdiff.analysis.fault_windows import as_clients_meet
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind, FaultRecord, with_hits
from rocketdiff.traces.manifest import CaseEntry
from rocketdiff.traces.reader import has_table, read_table
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.tables import TABLES, tables_of

BATCH_ROWS = 65_536
"""Rows converted to Python at a time: about 60 MB of objects; the fixed cost of a batch is negligible."""

TableKey = tuple[TableName, Arm | None]

Row = Mapping[str, Any]
"""Values by column, as Arrow returns them."""


@dataclass(frozen=True)
class CaseTrace:
    """
    One case: its entry in ``run.json`` and its tables. A missing table means unknown data, not none.

    rules_given: ``RunManifest.baseline_rules``; bodies_compared: ``RunManifest.bodies_compared``. No slots, because ``faults`` is
    a cached property.
    """

    run: str
    subjects: Mapping[Arm, str]
    entry: CaseEntry
    tables: Mapping[TableKey, pa.Table]
    rules_given: str | None = None
    bodies_compared: bool = False

    @property
    def origin_ns(self) -> int:
        """When offset 0 of the plan was due; 0 for a case that was not begun."""
        return self.entry.origin_ns or 0

    @cached_property
    def faults(self) -> tuple[FaultRecord, ...]:
        """As clients meet them (``fault_windows``)."""
        table = self.tables.get((TableName.FAULTS, None))
        rows = [] if table is None else table.drop_columns(["case"]).to_pylist()
        records = (FaultRecord(**row | {"kind": FaultKind(row["kind"])}) for row in rows)
        met = (as_clients_meet(record, self.entry.settings) for record in with_hits(records, self.entry.hits))
        return tuple(sorted(met, key=lambda fault: (fault.inject_ns, fault.node)))

    def routes(self, arm: Arm) -> Mapping[int, tuple[tuple[str, int], ...]]:
        """Return the queues of each publish list that an arm had, by its number."""
        return self._routes[arm]

    @cached_property
    def _routes(self) -> Mapping[Arm, Mapping[int, tuple[tuple[str, int], ...]]]:
        lists = {arm: self.tables.get((TableName.ROUTES, arm)) for arm in Arm}
        return {
            arm: {
                row["route"]: tuple((queue["broker"], queue["queue_id"]) for queue in row["queues"])
                for row in (table.select(["route", "queues"]).to_pylist() if table is not None else ())
            }
            for arm, table in lists.items()
        }

    def stored(self, arm: Arm) -> pa.Table | None:
        """Messages in an arm's topic; None if it was not read back."""
        return self.tables.get((TableName.STORED, arm))

    def scheduled(self, arm: Arm) -> pa.Table | None:
        """Delayed messages that brokers hold or held back; None if not read."""
        return self.tables.get((TableName.SCHEDULED, arm))

    def table(self, table: TableName, arm: Arm) -> pa.Table:
        """Return a table of an arm, empty if it is missing."""
        found = self.tables.get((table, arm))
        return TABLES[table].schema.empty_table() if found is None else found

    def rows(self, table: TableName, arm: Arm | None = None) -> list[Row]:
        """Return the rows of a table, none if it is missing; made once, and not to be changed."""
        if (table, arm) not in self._rows:
            found = self.tables.get((table, arm))
            self._rows[table, arm] = [] if found is None else rows_of(found)
        return self._rows[table, arm]

    @cached_property
    def _rows(self) -> dict[TableKey, list[Row]]:
        return {}


def read_case(run: RunDirectory, number: int) -> CaseTrace:
    """
    Read and verify every table that was sealed for a case.

    Raises TraceError if a file contradicts its statement: a split group would silently be judged wrongly.
    """
    keys: list[TableKey] = [(spec.name, arm) for spec in tables_of(run.entry(number).role) for arm in spec.arms]
    tables = {key: read_table(run, key[0], number, key[1]) for key in keys if has_table(run, key[0], number, key[1])}
    manifest = run.manifest
    return CaseTrace(
        run.run, manifest.subjects, run.entry(number), tables, manifest.baseline_rules, manifest.bodies_compared
    )


Rows = TypeVar("Rows", pa.Table, "pa.Array[Any]")


def rows_at(table: Rows, rows: npt.NDArray[np.int64]) -> Rows:
    """Return these rows of a table, or of a column; copied only if they do not follow each other, which takes ten times as long."""
    if bool((np.diff(rows) == 1).all()):
        return table.slice(int(rows[0]) if rows.size else 0, rows.size)
    return table.take(rows)


def rows_of(table: pa.Table) -> list[Row]:
    """Return ``to_pylist`` of a table, faster."""
    names = table.column_names
    return [dict(zip(names, row, strict=True)) for row in tuples_of(table, names)]


def tuples_of(table: pa.Table, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of these columns of a table."""
    return zip(*(values_of(table.column(name).combine_chunks()) for name in names), strict=True)


def integers(column: Any) -> npt.NDArray[np.int64]:
    """Return a column of integers that is never null."""
    return np.asarray(column.to_numpy(), dtype=np.int64)


def integers_or(column: Any, missing: int) -> npt.NDArray[np.int64]:
    """Return a column of integers; ``missing`` for null."""
    return integers(column.cast(pa.int64()).fill_null(missing) if column.null_count else column)


def values_of(column: Any) -> list[Any]:
    """Return ``to_pylist`` of an unchunked column, at a fraction of its cost for words and integers."""
    if column.null_count == len(column):
        return [None] * len(column)
    if pa.types.is_dictionary(column.type):
        words = [*column.dictionary.to_pylist(), None]
        codes = column.indices.fill_null(len(words) - 1) if column.null_count else column.indices
        return [words[code] for code in codes.to_numpy().tolist()]
    if pa.types.is_integer(column.type) and not column.null_count:
        return list(column.to_numpy().tolist())
    if pa.types.is_integer(column.type):
        values = list(column.fill_null(0).to_numpy().tolist())
        for row in np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)).tolist():
            values[row] = None
        return values
    return list(column.to_pylist())
