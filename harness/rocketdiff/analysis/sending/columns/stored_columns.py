"""The stored messages of each view, as arrays; ``StoredCopies`` is the same for a few sends, as objects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from rocketdiff.analysis.case_trace import integers, integers_or
from rocketdiff.analysis.sending.columns.arm_columns import MISSING, ArmColumns, Ints, Mask, WordDictionary, place_of
from rocketdiff.analysis.sending.steps.reconciled import StoredCopies

SPARSE = 4
"""If send numbers exceed this multiple of the rows, arrays by send number would be too sparse."""


@dataclass(frozen=True, slots=True)
class StoredColumns:
    """
    Stored messages of one arm.

    numbers, views, broker: by message, its send number, its view and its broker, or MISSING. rows: number of messages; foreign:
    number of messages without a planned send. row: by view, the row of its only copy, MISSING if it has none or several.
    at_home: that copy is undamaged and in the queue of the attempt, at the offset of the call's result if it has one.
    """

    table: pa.Table
    numbers: Ints
    views: Ints
    broker: Ints
    rows: int
    foreign: int
    row: Ints
    at_home: Mask
    store_ms: Ints
    born_ms: Ints
    planned: int | None

    def only_of(self, sends: Ints) -> StoredCopies:
        return StoredCopies(self.table, chosen=np.flatnonzero(np.isin(self.numbers, sends)))

    def strays(self) -> StoredCopies:
        return StoredCopies(self.table, self.planned, np.flatnonzero(self.numbers == MISSING))


def stored_columns(
    stored: pa.Table, columns: ArmColumns, brokers: WordDictionary, planned: int | None
) -> StoredColumns | None:
    """Return the stored messages of an arm; None if send numbers are too sparse or occur in two threads."""
    numbers = integers_or(stored.column("send"), MISSING)
    is_ours = (numbers >= 0) & (planned is None or numbers < planned)
    numbers = numbers if bool(is_ours.all()) else np.where(is_ours, numbers, MISSING)
    sends = columns.sends
    largest = max(int(numbers.max(initial=0)), int(sends.max(initial=0)))
    if largest > SPARSE * (numbers.size + sends.size) + 1_000:
        return None
    view_of = np.full(largest + 2, MISSING, dtype=np.int64)
    view_of[sends] = np.arange(sends.size)
    if not np.array_equal(view_of[sends], np.arange(sends.size)):
        return None
    row_of, copies = np.full(largest + 2, MISSING, dtype=np.int64), np.bincount(numbers + 1, minlength=largest + 2)
    row_of[numbers] = np.arange(numbers.size)
    row = np.where(copies[sends + 1] == 1, row_of[sends], MISSING)

    def of_copy(values: Any) -> Ints:
        return np.asarray(np.append(values, MISSING)[row], dtype=np.int64)

    broker = brokers.codes_of(stored.column("broker"))
    place = place_of(broker, integers(stored.column("queue_id")))
    offset = integers(stored.column("queue_offset"))
    is_whole = np.asarray(stored.column("body_ok").to_numpy(), dtype=np.bool_)
    is_there = (columns.queue_offset == MISSING) | (of_copy(offset) == columns.queue_offset)
    at_home = (row >= 0) & (of_copy(place) == columns.place) & is_there & (of_copy(is_whole) == 1)
    return StoredColumns(
        table=stored,
        numbers=numbers,
        views=view_of[numbers],
        broker=broker,
        rows=numbers.size,
        foreign=int((~is_ours).sum()),
        row=row,
        at_home=at_home,
        store_ms=of_copy(integers(stored.column("store_timestamp_ms"))),
        born_ms=of_copy(integers_or(stored.column("born_timestamp_ms"), MISSING)),
        planned=planned,
    )
