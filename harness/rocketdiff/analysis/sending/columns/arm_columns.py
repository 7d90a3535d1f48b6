"""
One arm's sends and attempts as arrays, and which of them are simple.

A *view* is a send that the arm began, as in ``SendView``: rows of ``sends`` and ``attempts`` joined by (thread, send), in order.
A view is *simple* if its call returned SEND_OK from its only attempt, which went to the queue that the result names, or if it is
one-way and its only attempt was written. Every other view becomes an object.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rocketdiff.analysis.case_trace import CaseTrace, integers, integers_or
from rocketdiff.analysis.sending.send_arrays import by_word, is_null, is_one_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.interval import PHASE_MS
from rocketdiff.oracle.producer.durations import BUSY_LEAST_MS, WAITED_MS
from rocketdiff.traces.schema import TableName

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

SEND_BITS = 40
"""A view's key is its thread, shifted by this many bits, plus its send number, which must fit."""

MISSING = -1
"""Code of a missing word; number of a missing row."""

_OK = "SEND_OK"
_LARGEST_QUEUE = 65_535


class WordDictionary:
    """Dictionary of the words of a case; codes are the same in all its tables."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._codes: dict[str, int] = {}

    def code(self, word: str) -> int:
        if word not in self._codes:
            self._codes[word] = len(self.words)
            self.words.append(word)
        return self._codes[word]

    def codes_of(self, column: Any) -> Ints:
        return by_word(column, self.code, MISSING)


@dataclass(frozen=True, slots=True)
class ArmColumns:
    """
    The views of one arm. Arrays have one element per view, valid only for simple views.

    send_row, first_attempt, attempts: its rows, and its number of attempts. place: broker and queue in one number, the same in
    both arms. queue_offset: MISSING if the call is one-way. returned_ns: when a call that waits for no answer gave its thread
    back, else MISSING. Valid for every view: last_place, of its last attempt; ended_well, its call returned without an error. failed:
    views of all failed attempts, with their brokers.
    """

    keys: Ints
    send_row: Ints
    first_attempt: Ints
    attempts: Ints
    simple: Mask
    start_ns: Ints
    end_ns: Ints
    returned_ns: Ints
    tried_ns: Ints
    answered_ns: Ints
    broker: Ints
    place: Ints
    queue_offset: Ints
    route: Ints
    argument: Ints
    body_bytes: Ints
    properties: Ints
    planned_properties: tuple[str | None, ...]
    last_place: Ints
    ended_well: Mask
    failed: tuple[Ints, Ints]

    @property
    def threads(self) -> Ints:
        return self.keys >> SEND_BITS

    @property
    def sends(self) -> Ints:
        return self.keys & ((1 << SEND_BITS) - 1)


def place_of(broker: Ints, queue_id: Ints) -> Ints:
    """Combine broker and queue in one number; MISSING for a queue number that no topic has."""
    known = (broker >= 0) & (queue_id >= 0) & (queue_id <= _LARGEST_QUEUE)
    return np.where(known, (broker << 16) | queue_id, MISSING)


def arm_columns(
    trace: CaseTrace, arm: Arm, brokers: WordDictionary, mode: SendMode = SendMode.SYNC
) -> ArmColumns | None:
    """Return an arm's columns; None if its rows are not numbered and sorted as in a sealed run."""
    sends, attempts = trace.table(TableName.SENDS, arm), trace.table(TableName.ATTEMPTS, arm)
    send_keys, attempt_keys = _keys(sends), _keys(attempts)
    if send_keys is None or attempt_keys is None or not bool((np.diff(send_keys) > 0).all()):
        return None
    steps = np.diff(attempt_keys)
    if not bool((steps >= 0).all()):
        return None
    firsts = np.flatnonzero(np.concatenate(([True], steps > 0))) if attempt_keys.size else np.empty(0, np.int64)
    tried_keys = attempt_keys[firsts]
    keys = send_keys if np.array_equal(send_keys, tried_keys) else np.union1d(send_keys, tried_keys)
    send_row = _rows_of(keys, send_keys)
    group = _rows_of(keys, tried_keys)
    counts = np.diff(np.append(firsts, attempt_keys.size))
    first_attempt = _taken(firsts, group, MISSING)
    counts = _taken(counts, group, 0)
    return _joined(sends, attempts, brokers, keys, send_row, first_attempt, counts, attempt_keys, mode)


def _joined(
    sends: pa.Table,
    attempts: pa.Table,
    brokers: WordDictionary,
    keys: Ints,
    send_row: Ints,
    first_attempt: Ints,
    counts: Ints,
    attempt_keys: Ints,
    mode: SendMode,
) -> ArmColumns:
    def of_send(values: Ints | Mask) -> Ints:
        return _taken(values.astype(np.int64, copy=False), send_row, MISSING)

    def of_attempt(values: Ints | Mask) -> Ints:
        return _taken(values.astype(np.int64, copy=False), first_attempt, MISSING)

    tried_ns, answered_ns = (of_attempt(integers(attempts.column(name))) for name in ("start_ns", "end_ns"))
    tried_at = brokers.codes_of(attempts.column("broker"))
    places = place_of(tried_at, integers(attempts.column("queue_id")))
    named = of_send(place_of(brokers.codes_of(sends.column("broker")), integers_or(sends.column("queue_id"), MISSING)))
    texts = WordDictionary()
    end_ns = of_send(integers(sends.column("end_ns")))
    ended_well = of_send(_ended_well(sends)) == 1
    returned_ns = of_send(integers_or(sends.column("returned_ns"), MISSING))
    if mode is SendMode.ONEWAY:
        returned_ns = np.where(ended_well, end_ns, MISSING)
    joined = ArmColumns(
        keys=keys,
        send_row=send_row,
        first_attempt=first_attempt,
        attempts=counts,
        simple=(of_send(_went_well(sends, mode)) == 1) & (of_attempt(_was_sent(attempts, mode)) == 1),
        start_ns=of_send(integers(sends.column("start_ns"))),
        end_ns=end_ns,
        returned_ns=returned_ns,
        tried_ns=tried_ns,
        answered_ns=answered_ns,
        broker=of_attempt(tried_at),
        place=of_attempt(places),
        queue_offset=of_send(integers_or(sends.column("queue_offset"), MISSING)),
        route=of_send(integers(sends.column("route"))),
        argument=of_send(integers(sends.column("argument"))),
        body_bytes=of_send(integers(sends.column("body_bytes"))),
        properties=of_send(texts.codes_of(sends.column("properties"))),
        planned_properties=(*texts.words, None),
        last_place=_taken(places, np.where(counts, first_attempt + counts - 1, MISSING), MISSING),
        ended_well=ended_well,
        failed=_failed(attempts, tried_at, keys, attempt_keys),
    )
    return replace(joined, simple=joined.simple & _took_one_attempt(joined, named, mode))


def _took_one_attempt(joined: ArmColumns, named: Ints, mode: SendMode) -> Mask:
    """True for views with one attempt, as long as any may take and over before its call, at the queue that the result names, if any."""
    once = (joined.attempts == 1) & (joined.place >= 0) & (joined.answered_ns >= joined.tried_ns)
    if mode is SendMode.ONEWAY:
        once &= (joined.end_ns - joined.tried_ns) // NS_PER_MS <= WAITED_MS
    else:
        once &= (named == joined.place) & (joined.queue_offset >= 0) & (joined.end_ns >= joined.answered_ns)
    # An attempt that took no longer than the tolerance for a busy machine cannot have outlasted the rest of its timeout.
    return np.asarray(once & ((joined.answered_ns - joined.tried_ns) // NS_PER_MS <= BUSY_LEAST_MS))


def longest_wait_ms(columns: ArmColumns) -> Ints:
    """Return the maximum that a client's millisecond clock may show between its call and its first attempt."""
    tried_ns = np.maximum(columns.tried_ns, columns.start_ns)
    return tried_ns // NS_PER_MS + PHASE_MS - columns.start_ns // NS_PER_MS


def _ended_well(sends: pa.Table) -> Mask:
    return is_null(sends.column("error"))


def _failed(attempts: pa.Table, brokers: Ints, keys: Ints, attempt_keys: Ints) -> tuple[Ints, Ints]:
    rows = np.flatnonzero(~is_null(attempts.column("error")))
    return np.searchsorted(keys, attempt_keys[rows]), brokers[rows]


def _went_well(sends: pa.Table, mode: SendMode) -> Mask:
    well = _ended_as_expected(sends, mode) & (integers(sends.column("route")) == integers(sends.column("route_after")))
    for name in ("error", "cause", "code"):
        well &= is_null(sends.column(name))
    if mode is SendMode.ONEWAY:
        for name in ("broker", "queue_id", "queue_offset"):
            well &= is_null(sends.column(name))
    if mode is SendMode.ASYNC:
        return np.asarray(well & (integers_or(sends.column("callbacks"), MISSING) == 1))
    return np.asarray(well & is_null(sends.column("callbacks")))


def _was_sent(attempts: pa.Table, mode: SendMode) -> Mask:
    """True for a first attempt that was answered SEND_OK, or written if it is one-way."""
    sent = _ended_as_expected(attempts, mode)
    if mode is not SendMode.ONEWAY:
        sent &= is_one_of(attempts.column("outcome"), Outcome.OK)
    for name in ("error", "code"):
        sent &= is_null(attempts.column(name))
    is_first = integers(attempts.column("attempt")) == 0
    return np.asarray(sent & is_first)


def _ended_as_expected(rows: pa.Table, mode: SendMode) -> Mask:
    """True for calls, or attempts, that ended in SEND_OK, or without knowing if they are one-way."""
    if mode is SendMode.ONEWAY:
        return np.asarray(is_null(rows.column("status")) & is_one_of(rows.column("outcome"), Outcome.UNKNOWN))
    return is_one_of(rows.column("status"), _OK)


def _keys(table: pa.Table) -> Ints | None:
    threads, sends = (integers(table.column(name)) for name in ("thread", "send"))
    if sends.size and (min(int(sends.min()), int(threads.min())) < 0 or int(sends.max()) >> SEND_BITS):
        return None
    return np.asarray((threads << SEND_BITS) | sends, dtype=np.int64)


def _rows_of(keys: Ints, own: Ints) -> Ints:
    """Return the row of each key, or MISSING; both arrays are sorted."""
    if np.array_equal(keys, own):
        return np.arange(keys.size, dtype=np.int64)
    rows = np.searchsorted(own, keys)
    found = np.append(own, MISSING)[rows] == keys
    return np.where(found, rows, MISSING)


def _taken(values: Ints, rows: Ints, missing: int) -> Ints:
    if rows.size == values.size and bool((rows == np.arange(rows.size)).all()):
        return values
    return np.append(values, missing)[rows]
