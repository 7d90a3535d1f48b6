"""
Chooses the attempts that a report draws one by one: windows around the examples of a case, or around its first fault.

Only the rows of a window become Python objects.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rocketdiff.analysis.case_trace import CaseTrace, integers, values_of
from rocketdiff.analysis.facts import DifferenceFact, LaneBar
from rocketdiff.analysis.sending.columns.arm_columns import Ints
from rocketdiff.analysis.sending.send_arrays import is_one_of
from rocketdiff.analysis.sending.steps.attempts_in_context import FaultTimes
from rocketdiff.analysis.summaries import ease
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.traces.schema import TableName

BEFORE_NS = 500_000_000
AFTER_NS = 1_500_000_000
"""Time shown before and after the first fault of a case without differences (without a fault: from its origin)."""

REACH_SENDS = 30
"""Sends of its thread before and after an example: about sixty bars per arm, each still wider than its outline."""

REACH_NS = 5_000_000_000
"""Maximum extent of a window on either side of its example. Otherwise sends that hang would shrink all others."""

WINDOWS = 6
"""Windows per case: the earliest examples, which show the causes; a page has one card per kind anyway."""

BARS = 200
"""Bars per arm and window, nearest to its middle first: a reader cannot follow more, and the page stays small."""

_COLUMNS = ["thread", "send", "attempt", "broker", "queue_id", "start_ns", "end_ns", "outcome", "reason"]


@dataclass(frozen=True, slots=True)
class Window:
    """A time interval and the instant that it shows."""

    start_ns: int
    end_ns: int
    middle_ns: int


def lane_bars(
    trace: CaseTrace, times: FaultTimes, differences: Sequence[DifferenceFact], origin_ns: int
) -> Iterator[LaneBar]:
    """Yield the bars of every window of a case, window by window."""
    tables = {arm: trace.tables[key] for arm in Arm if (key := (TableName.ATTEMPTS, arm)) in trace.tables}
    for number, window in enumerate(_windows(tables, times, differences, origin_ns)):
        for arm, table in tables.items():
            yield from _bars(table, arm, number, window)


def fault_window(times: FaultTimes, origin_ns: int) -> Window:
    """Return the window around the first fault; without a fault it begins at the case's origin."""
    if not times.faults:
        return Window(origin_ns, origin_ns + BEFORE_NS + AFTER_NS, origin_ns)
    first = times.faults[0]
    healed_ns = first.injected_ns if first.healed_ns is None else first.healed_ns
    return Window(first.inject_ns - BEFORE_NS, healed_ns + AFTER_NS, first.inject_ns)


def _windows(
    tables: dict[Arm, pa.Table], times: FaultTimes, differences: Sequence[DifferenceFact], origin_ns: int
) -> list[Window]:
    found: list[tuple[DifferenceFact, Window]] = []
    for example in _examples(differences):
        shown = any((o.arm, o.thread) == (example.arm, example.thread) and _near(o, example) for o, _ in found)
        if not shown and len(found) < WINDOWS and (window := _around(tables.get(Arm(example.arm)), example)):
            found.append((example, window))
    return [window for _, window in found] or [fault_window(times, origin_ns)]


def _near(one: DifferenceFact, other: DifferenceFact) -> bool:
    return abs(one.send - other.send) <= REACH_SENDS // 2


def _examples(differences: Sequence[DifferenceFact]) -> list[DifferenceFact]:
    """Return the example of each kind, chosen as in ``summaries``, ordered by time."""
    best: dict[tuple[str, str, str], DifferenceFact] = {}
    for found in differences:
        key = (found.check, found.signature, found.arm)
        best[key] = min(best.get(key, found), found, key=ease)
    return sorted(best.values(), key=lambda found: found.at_ns)


def _around(table: pa.Table | None, example: DifferenceFact) -> Window | None:
    """Return the window over the neighbours of an example's send; None if its thread made no attempt there."""
    if table is None:
        return None
    send = pc.field("send")
    near = (send >= example.send - REACH_SENDS) & (send <= example.send + REACH_SENDS)
    rows = table.filter((pc.field("thread") == example.thread) & near).select(["start_ns", "end_ns"]).to_pylist()
    if not rows:
        return None
    first, last = min(row["start_ns"] for row in rows), max(row["end_ns"] for row in rows)
    middle = example.at_ns
    return Window(max(first, middle - REACH_NS), min(last, middle + REACH_NS), middle)


def _bars(table: pa.Table, arm: Arm, number: int, window: Window) -> Iterator[LaneBar]:
    began_ns, ended_ns = (integers(table.column(name)) for name in ("start_ns", "end_ns"))
    inside: Ints = np.flatnonzero((began_ns <= window.end_ns) & (ended_ns >= window.start_ns))
    if inside.size > BARS:
        # Successful first attempts are the most frequent and are left out first.
        is_plain = is_one_of(table.column("outcome"), Outcome.OK) & (integers(table.column("attempt")) == 0)
        away_ns = np.abs(began_ns[inside] - window.middle_ns)
        inside = np.sort(inside[np.lexsort((away_ns, is_plain[inside]))[:BARS]])
    columns = (column.combine_chunks() for column in table.select(_COLUMNS).take(inside).columns)
    for row in zip(*map(values_of, columns), strict=True):
        thread, send, attempt, broker, queue_id, start_ns, end_ns, outcome, reason = row
        yield LaneBar(str(arm), thread, send, attempt, broker, queue_id, start_ns, end_ns, outcome, reason, number)
