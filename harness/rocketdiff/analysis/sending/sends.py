"""
The sends of an arm as a stream in the order that the oracle needs.

Python rows exist for one batch at a time, so a long case needs only the memory of its columns.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rocketdiff.analysis.case_trace import BATCH_ROWS, CaseTrace, values_of
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.traces.schema import TableName
from rocketdiff.traces.sending.tables import ATTEMPTS, SENDS

Row = tuple[Any, ...]
"""Values as Arrow returns them; the reader has verified the columns."""


def attempts_by_send(trace: CaseTrace, arm: Arm) -> npt.NDArray[np.int64]:
    """Return how many attempts each send of an arm made, at the place of its number."""
    sends, attempts = (
        trace.table(name, arm).column("send").to_numpy() for name in (TableName.SENDS, TableName.ATTEMPTS)
    )
    return np.bincount(attempts, minlength=int(sends.max(initial=0)) + 1)


def sends_of(trace: CaseTrace, arm: Arm, batch_rows: int = BATCH_ROWS) -> Iterator[SendView]:
    """Merge both tables into sends with their attempts, by (thread, send); the reader has verified their order."""
    sends = _rows(trace.table(TableName.SENDS, arm), _SEND_COLUMNS, batch_rows)
    attempts = _rows(trace.table(TableName.ATTEMPTS, arm), _ATTEMPT_COLUMNS, batch_rows)
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


def _rows(table: pa.Table, columns: list[str], batch_rows: int) -> Iterator[Row]:
    for batch in table.select(columns).to_batches(max_chunksize=batch_rows):
        yield from zip(*map(values_of, batch.columns), strict=True)


def _order(row: Row) -> tuple[int, int]:
    return row[0], row[1]


_ATTEMPT_COLUMNS = [
    "thread",
    "send",
    *(name for name in ATTEMPTS.names[4:] if name != "reason"),
]
_SEND_COLUMNS = [
    "thread",
    *(name for name in SENDS.names[3:] if name not in ("outcome", "reason")),
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
    route, route_after, kind, argument, body_bytes, mode, returned_ns, callbacks, delay_level, properties, message = (
        asked
    )
    return Send(
        *(send, thread, start_ns, end_ns, error, cause, code, message, status, broker, queue_id, queue_offset),
        *(route, route_after, returned_ns, due_ns, _KINDS[kind], argument, body_bytes, _MODES[mode]),
        *(callbacks, delay_level, properties, attempts),
    )
