"""
The sealed tables of one case, and its sends as a stream in the order that the oracle needs.

Columns stay in Arrow. Python rows exist for one batch at a time, so a long case needs only the memory of its columns.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from rocketdiff.analysis.send_view import SendView
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.traces.manifest import CaseEntry
from rocketdiff.traces.reader import has_table, read_table
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.tables import TABLES

BATCH_ROWS = 65_536
"""Rows converted to Python at a time: about 60 MB of objects; the fixed cost of a batch is negligible."""

TableKey = tuple[TableName, Arm | None]
Row = tuple[Any, ...]
"""Values as Arrow returns them; the reader has verified the columns."""


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

    @cached_property
    def faults(self) -> tuple[FaultRecord, ...]:
        table = self.tables.get((TableName.FAULTS, None))
        rows = [] if table is None else table.drop_columns(["case"]).to_pylist()
        records = (FaultRecord(**row | {"kind": FaultKind(row["kind"])}) for row in rows)
        return tuple(sorted(records, key=lambda fault: (fault.inject_ns, fault.node)))

    def routes(self, arm: Arm) -> dict[int, tuple[tuple[str, int], ...]]:
        table = self.tables.get((TableName.ROUTES, arm))
        rows = [] if table is None else table.select(["route", "queues"]).to_pylist()
        return {row["route"]: tuple((queue["broker"], queue["queue_id"]) for queue in row["queues"]) for row in rows}

    def stored(self, arm: Arm) -> pa.Table | None:
        """Messages in an arm's topic; None if it was not read back."""
        return self.tables.get((TableName.STORED, arm))

    def scheduled(self, arm: Arm) -> pa.Table | None:
        """Delayed messages that brokers hold or held back; None if not read."""
        return self.tables.get((TableName.SCHEDULED, arm))

    def sends(self, arm: Arm, batch_rows: int = BATCH_ROWS) -> Iterator[SendView]:
        """Merge both tables into sends with their attempts, by (thread, send); the reader has verified their order."""
        sends = _rows(self._table(TableName.SENDS, arm), _SEND_COLUMNS, batch_rows)
        attempts = _rows(self._table(TableName.ATTEMPTS, arm), _ATTEMPT_COLUMNS, batch_rows)
        send, attempt = next(sends, None), next(attempts, None)
        while send is not None or attempt is not None:
            order = min(_order(row) for row in (send, attempt) if row is not None)
            tried: list[Attempt] = []
            while attempt is not None and _order(attempt) == order:
                tried.append(_attempt(attempt))
                attempt = next(attempts, None)
            row = None
            if send is not None and _order(send) == order:
                row = _send(send, tuple(tried))
                send = next(sends, None)
            yield SendView(arm, order[0], order[1], row, tuple(tried))

    def _table(self, table: TableName, arm: Arm) -> pa.Table:
        return self.tables.get((table, arm), TABLES[table].schema.empty_table())


def read_case(run: RunDirectory, number: int) -> CaseTrace:
    """
    Read and verify every table that was sealed for a case.

    Raises TraceError if a file contradicts its statement: a split group would silently be judged wrongly.
    """
    keys: list[TableKey] = [(table, arm) for table, spec in TABLES.items() for arm in spec.arms]
    tables = {key: read_table(run, key[0], number, key[1]) for key in keys if has_table(run, key[0], number, key[1])}
    manifest = run.manifest
    return CaseTrace(
        run.run, manifest.subjects, run.entry(number), tables, manifest.baseline_rules, manifest.bodies_compared
    )


def _rows(table: pa.Table, columns: list[str], batch_rows: int) -> Iterator[Row]:
    for batch in table.select(columns).to_batches(max_chunksize=batch_rows):
        yield from zip(*map(values_of, batch.columns), strict=True)


def values_of(column: Any) -> list[Any]:
    """Return ``to_pylist`` of an unchunked column, at a fraction of its cost for words and integers."""
    if column.null_count == len(column):
        return [None] * len(column)
    if pa.types.is_dictionary(column.type):
        words = [*column.dictionary.to_pylist(), None]
        return [words[code] for code in column.indices.fill_null(len(words) - 1).to_numpy().tolist()]
    if pa.types.is_integer(column.type) and not column.null_count:
        return list(column.to_numpy().tolist())
    return list(column.to_pylist())


def _order(row: Row) -> tuple[int, int]:
    return row[0], row[1]


_ATTEMPT_COLUMNS = [
    "thread",
    "send",
    *(name for name in TABLES[TableName.ATTEMPTS].schema.names[4:] if name != "reason"),
]
_SEND_COLUMNS = [
    "thread",
    *(name for name in TABLES[TableName.SENDS].schema.names[3:] if name not in ("outcome", "reason")),
]
"""Outcome and reason follow from the rest, except that only an attempt's outcome shows a one-way request without an answer."""


_KINDS = {str(kind): kind for kind in SendKind}
_MODES: dict[str | None, SendMode] = {None: SendMode.SYNC, **{str(mode): mode for mode in SendMode}}


def _attempt(row: Row) -> Attempt:
    thread, send, attempt, broker, queue_id, start_ns, end_ns, outcome, error, code, status, chooser = row
    oneway = error is None and outcome == Outcome.UNKNOWN
    return Attempt(
        send, thread, attempt, broker, queue_id, start_ns, end_ns, error, code, status, chooser, oneway=oneway
    )


def _send(row: Row, attempts: tuple[Attempt, ...]) -> Send:
    thread, send, due_ns, start_ns, end_ns, error, cause, code, status, broker, queue_id, queue_offset, *asked = row
    route, route_after, kind, argument, body_bytes, mode, returned_ns, callbacks, delay_level, properties = asked
    return Send(
        *(send, thread, start_ns, end_ns, error, cause, code, None, status, broker, queue_id, queue_offset),
        *(route, route_after, returned_ns, due_ns, _KINDS[kind], argument, body_bytes, _MODES[mode]),
        *(callbacks, delay_level, properties, attempts),
    )
