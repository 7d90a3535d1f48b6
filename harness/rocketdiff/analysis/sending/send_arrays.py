"""The sends of an arm as arrays, for questions about all of them at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rocketdiff.analysis.case_trace import CaseTrace, rows_at
from rocketdiff.analysis.sending.sends import attempts_by_send
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import NEVER_CALLED_BACK
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.traces.schema import TableName

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sends:
    """
    One arm's sends: numbers, threads, times, and the broker that answered, by its place in brokers, -1 for none.

    free: when the call returned. ended: not for a call without a callback, whose end is when its driver stopped waiting. went_well: SEND_OK from the only attempt. waits: the call returns when the answer has come.
    is_oneway: there is no answer.
    """

    number: Ints
    thread: Ints
    due: Ints
    start: Ints
    end: Ints
    free: Ints
    ended: Mask
    broker: Ints
    brokers: Sequence[str]
    went_well: Mask
    waits: Mask
    is_oneway: Mask


def sends_of_arm(trace: CaseTrace, arm: Arm) -> Sends:
    """Return an arm's sends in the order of its table, by thread and number."""
    table = trace.table(TableName.SENDS, arm)
    number, thread, due, start, end = (
        table.column(name).to_numpy() for name in ("send", "thread", "due_ns", "start_ns", "end_ns")
    )
    brokers: Any = table.column("broker").unify_dictionaries().combine_chunks()
    return Sends(
        number=number,
        thread=thread,
        due=due,
        start=start,
        end=end,
        free=pc.coalesce(table.column("returned_ns"), table.column("end_ns")).to_numpy(),
        ended=~is_one_of(table.column("error"), NEVER_CALLED_BACK),
        broker=brokers.indices.fill_null(-1).to_numpy(),
        brokers=tuple(brokers.dictionary.to_pylist()),
        went_well=is_one_of(table.column("outcome"), Outcome.OK) & (attempts_by_send(trace, arm)[number] <= 1),
        waits=~is_one_of(table.column("mode"), SendMode.ASYNC, SendMode.ONEWAY),
        is_oneway=is_one_of(table.column("mode"), SendMode.ONEWAY),
    )


def rows_with(table: pa.Table, column: str, words: Sequence[str], names: Sequence[str]) -> pa.Table:
    """Return these columns of the rows that have one of these words."""
    return rows_at(table.select(names), np.flatnonzero(is_one_of(table.column(column), *words)))


def is_one_of(column: Any, *words: str) -> Mask:
    """Return where a column has one of these words."""
    return by_word(column, words.__contains__, missing=False).astype(np.bool_)


def by_word(column: Any, value_of: Callable[[str], int], missing: int) -> Ints:
    """
    Map a column of dictionary-coded words to integers; ``missing`` for null.

    By the codes of the words, at a tenth of the cost of ``pyarrow.compute``, which decodes them.
    """
    parts = []
    for chunk in column.chunks:
        values = [missing if word is None else value_of(word) for word in chunk.dictionary.to_pylist()]
        codes = chunk.indices.fill_null(-1) if chunk.null_count else chunk.indices
        parts.append(np.array([*values, missing], dtype=np.int64)[codes.to_numpy()])
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def is_null(column: Any) -> Mask:
    """Return where a column is null."""
    if column.null_count == len(column):
        return np.ones(len(column), dtype=np.bool_)
    return np.asarray(column.is_null().to_numpy(), dtype=np.bool_)
