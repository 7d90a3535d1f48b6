"""
How long one-way messages took to reach their brokers: their calls return before, and nobody answers.

A broker's clock may be another machine's, so that only differences show: times count from the quickest message of both arms.
"""

from collections.abc import Mapping

import numpy as np

from rocketdiff.analysis.case_trace import CaseTrace, integers_or
from rocketdiff.analysis.sending.send_arrays import Floats, Ints, Sends, by_word
from rocketdiff.analysis.sending.wall_times import wall_range_ms
from rocketdiff.core.arm import Arm
from rocketdiff.core.clock import CLOCK_SLIP_MS, ClockAnchor
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.traces.schema import TableName

UNKNOWN_NS = -1


def stored_after_ns(trace: CaseTrace, arms: Mapping[Arm, Sends]) -> dict[Arm, Ints]:
    """
    Return, for each send, the time from its start until it was stored.

    UNKNOWN_NS for all but one-way sends without a delay that are stored once, and while the wall clock was stepped.
    """
    found = {arm: np.full(sends.number.size, UNKNOWN_NS, dtype=np.int64) for arm, sends in arms.items()}
    if trace.entry.clock is None or not any(sends.is_oneway.any() for sends in arms.values()):
        return found
    codes: dict[str, int] = {}
    stored = {arm: _stored(trace, arm, sends, trace.entry.clock, codes) for arm, sends in arms.items()}
    quickest_ms = np.full(len(codes), np.inf)
    for _, broker, ahead_ms in stored.values():
        np.minimum.at(quickest_ms, broker, ahead_ms)
    for arm, (rows, broker, ahead_ms) in stored.items():
        found[arm][rows] = ((ahead_ms - quickest_ms[broker]) * NS_PER_MS).astype(np.int64)
    return found


def _stored(
    trace: CaseTrace, arm: Arm, sends: Sends, clock: ClockAnchor, codes: dict[str, int]
) -> tuple[Ints, Ints, Floats]:
    """Return row, code of the broker, and by how many ms its clock was ahead of the start when it stored the message."""
    table = trace.table(TableName.STORED, arm)
    send = integers_or(table.column("send"), -1)
    rows_of = np.full(max(sends.number.max(initial=0), send.max(initial=0)) + 2, -1, dtype=np.int64)
    rows_of[sends.number] = np.arange(sends.number.size)
    copies = np.bincount(send + 1, minlength=rows_of.size)
    start_ns = sends.start[rows_of[send]]
    least_ms, most_ms = wall_range_ms(clock, start_ns, start_ns)
    is_delayed = integers_or(trace.table(TableName.SENDS, arm).column("delay_level"), 0) != 0
    is_known = (sends.is_oneway & ~is_delayed)[rows_of[send]] & (rows_of[send] >= 0) & (copies[send + 1] == 1)
    is_known &= most_ms - least_ms <= CLOCK_SLIP_MS
    here = np.flatnonzero(is_known)
    broker = by_word(table.column("broker"), lambda word: codes.setdefault(word, len(codes)), missing=0)
    ahead_ms = np.asarray(table.column("store_timestamp_ms").to_numpy() - least_ms, dtype=np.float64)
    return rows_of[send][here], broker[here], ahead_ms[here]
