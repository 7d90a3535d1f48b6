"""Typed rows of a sealed case, grouped as the oracle reads them: every send of one thread with its attempts."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from harness.core.events import Arm
from harness.core.outcome import Outcome, Reason
from harness.core.plan import SendKind, SendMode
from harness.traces.schema import ARM_OF_CODE
from harness.traces.statement import integers


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One request to one broker; times in ns of the monotonic clock."""

    attempt: int
    broker: str
    queue_id: int
    start_ns: int
    end_ns: int
    outcome: Outcome
    reason: Reason
    error: str | None
    code: int | None
    status: str | None
    chooser: int | None = None


@dataclass(frozen=True, slots=True)
class SendRow:
    """
    One call by the application with its attempts in order; times in ns of the monotonic clock.

    mode None: synchronous, as every send before schema 1.2. returned_ns and callbacks are those of an asynchronous call.
    properties: what the plan wants the message to carry besides our id, as canonical text (``core.message``); None: nothing.
    """

    send: int
    due_ns: int
    start_ns: int
    end_ns: int
    outcome: Outcome
    reason: Reason
    error: str | None
    cause: str | None
    code: int | None
    status: str | None
    broker: str | None
    queue_id: int | None
    queue_offset: int | None
    route: int
    route_after: int
    kind: SendKind
    argument: int
    body_bytes: int
    attempts: tuple[AttemptRow, ...]
    mode: SendMode = SendMode.SYNC
    returned_ns: int | None = None
    callbacks: int | None = None
    delay_level: int | None = None
    properties: str | None = None


@dataclass(frozen=True, slots=True)
class ThreadGroup:
    """
    One group (case, arm, thread), whole.

    unfinished: attempts of sends that never returned (the subject died in them), with their send.
    """

    case: int
    arm: Arm
    thread: int
    sends: tuple[SendRow, ...]
    unfinished: tuple[tuple[int, AttemptRow], ...]


def thread_groups(sends: pa.Table, attempts: pa.Table) -> Iterator[ThreadGroup]:
    """
    Groups of one or several verified files of ``sends`` and ``attempts``, rising by case, arm and thread.

    A group's rows are made when it is asked for, so a long run needs the memory of its largest group.
    """
    send_spans, attempt_spans = _spans(sends), _spans(attempts)
    for key in sorted(send_spans.keys() | attempt_spans.keys()):
        case, arm, thread = key
        tried: dict[int, list[AttemptRow]] = defaultdict(list)
        for send, row in _attempt_rows(_slice(attempts, attempt_spans.get(key))):
            tried[send].append(row)
        rows = tuple(_send_rows(_slice(sends, send_spans.get(key)), tried))
        unfinished = tuple((send, row) for send, lost in sorted(tried.items()) for row in lost)
        yield ThreadGroup(case, ARM_OF_CODE[arm], thread, rows, unfinished)


Span = tuple[int, int]


def _spans(table: pa.Table) -> dict[tuple[int, int, int], Span]:
    """First row and number of rows of each group; files are verified, so a group's rows stand together."""
    if table.num_rows == 0:
        return {}
    keys = np.stack([integers(table, name) for name in ("case", "arm", "thread")], axis=1)
    changes = np.flatnonzero((np.diff(keys, axis=0) != 0).any(axis=1)) + 1
    starts = [0, *changes.tolist()]
    ends = [*changes.tolist(), table.num_rows]
    return {
        (int(keys[start, 0]), int(keys[start, 1]), int(keys[start, 2])): (start, end - start)
        for start, end in zip(starts, ends, strict=True)
    }


def _slice(table: pa.Table, span: Span | None) -> pa.Table:
    return table.slice(0, 0) if span is None else table.slice(*span)


def _attempt_rows(table: pa.Table) -> Iterator[tuple[int, AttemptRow]]:
    for values in table.drop_columns(["case", "arm", "thread"]).to_pylist():
        send = values.pop("send")
        yield (
            send,
            AttemptRow(**values | {"outcome": Outcome(values["outcome"]), "reason": Reason(values["reason"])}),
        )


def _send_rows(table: pa.Table, tried: dict[int, list[AttemptRow]]) -> Iterator[SendRow]:
    for values in table.drop_columns(["case", "arm", "thread"]).to_pylist():
        words = {
            "outcome": Outcome(values["outcome"]),
            "reason": Reason(values["reason"]),
            "kind": SendKind(values["kind"]),
            "mode": SendMode(values["mode"] or SendMode.SYNC),
        }
        yield SendRow(**values | words, attempts=tuple(tried.pop(values["send"], ())))
