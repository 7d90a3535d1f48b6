"""
A case as columns, and which of its planned sends are calm.

A planned send is calm if in both arms it is simple, keeps its turn, met no fault and is stored once where and as its call says.
Checks only tally calm sends, and the columns determine the tallies. All other
sends become objects and are observed in order.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.sending.checks.storage.acknowledged import EARLY_MS
from rocketdiff.analysis.sending.columns.arm_columns import MISSING, ArmColumns, Ints, Mask, WordDictionary, arm_columns
from rocketdiff.analysis.sending.columns.choices import choices_of
from rocketdiff.analysis.sending.columns.contents import Carried, Contents, alike, contents_of
from rocketdiff.analysis.sending.columns.fault_columns import near_faults
from rocketdiff.analysis.sending.columns.order_lanes import OrderLanes, order_lanes
from rocketdiff.analysis.sending.columns.stored_columns import StoredColumns, stored_columns
from rocketdiff.analysis.sending.columns.turns import GIVEN, ROTATING, Turns, turns_of
from rocketdiff.analysis.sending.steps.rulebook import Rulebook
from rocketdiff.analysis.sending.wall_times import wall_range_ms
from rocketdiff.core.arm import Arm
from rocketdiff.core.clock import STEADY, ClockAnchor
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.traces.schema import TableName

SMALL_CASE = 1 << 16
MOST_SLOW = 0.5
"""
Above this share of sends that become objects, a case of more than SMALL_CASE sends has no columns: they keep more objects at once than reading
send by send does.
"""

ROUNDING_MS = 1.0
"""Margin of a bound. Floating-point sums in another order differ by far less."""

_EXACT_NS = 1 << 53
"""Time differences below this are exact as floating-point numbers."""


Values = TypeVar("Values", Ints, Mask)


@dataclass(frozen=True, slots=True)
class ArmPart:
    """All columns of one arm. own: views that are calm in this arm; lanes: only if the application names the queue."""

    columns: ArmColumns
    turns: Turns
    stored: StoredColumns
    contents: Contents
    own: Mask
    lanes: OrderLanes | None


@dataclass(frozen=True, slots=True)
class CaseColumns:
    """
    Both arms, and their views side by side.

    keys: of every planned send that an arm began, sorted. views: by arm, the view of each send, MISSING if that arm never
    began it. returned: both calls returned, if they wait for no answer. slow: the send must become an object; the replay may add further ones.
    """

    kind: SendKind
    mode: SendMode
    brokers: WordDictionary
    arms: Mapping[Arm, ArmPart]
    keys: Ints
    views: Mapping[Arm, Ints]
    returned: Mask
    slow: Mask

    @property
    def rotates(self) -> bool:
        return self.kind in ROTATING


def case_columns(trace: CaseTrace, rulebook: Rulebook) -> CaseColumns | None:
    """Return the columns of a case; None if it cannot be judged in columns, or if too little of a large one is calm."""
    kind, mode = _kind(trace, rulebook), _mode(trace, rulebook)
    if (
        kind is None
        or mode is None
        or not _are_times_exact(trace)
        or not (mode is SendMode.SYNC or kind is SendKind.PLAIN)
    ):
        return None
    brokers = WordDictionary()
    columns = {arm: arm_columns(trace, arm, brokers, mode) for arm in Arm}
    parts = _parts(trace, {arm: each for arm, each in columns.items() if each is not None}, kind, brokers, mode)
    if parts is None:
        return None
    arms, everything = parts
    both = [arms[arm].columns.keys for arm in Arm]
    keys = both[0] if np.array_equal(both[0], both[1]) else np.union1d(both[0], both[1])
    views = {arm: _views_of(keys, arms[arm].columns.keys) for arm in Arm}
    slow = ~_calm(arms, views, everything)
    returned = np.logical_and.reduce(
        [(views[arm] >= 0) & (at(arms[arm].columns.returned_ns, views[arm]) != MISSING) for arm in Arm]
    )
    if mode is not SendMode.SYNC:
        slow[_longest_call(arms, views, returned)] = True
    if not keys.size or (keys.size > SMALL_CASE and slow.mean() > MOST_SLOW):
        return None
    return CaseColumns(kind, mode, brokers, arms, keys, views, returned, slow)


def _kind(trace: CaseTrace, rulebook: Rulebook) -> SendKind | None:
    """Return the only kind of call of a case; None if there are several, or calls that columns cannot judge."""
    leaves_open = rulebook.may_leave_open
    if (
        set(rulebook.rules) != set(Arm)
        or topology_named(trace.entry.topology).has_proxies
        or any(rules.shared for rules in rulebook.rules.values())
        or (leaves_open is not None and leaves_open(None))
    ):
        return None
    kinds: set[object] = set()
    for arm in Arm:
        sends, attempts = (trace.tables.get((name, arm)) for name in (TableName.SENDS, TableName.ATTEMPTS))
        if sends is None or attempts is None or not sends.num_rows or not attempts.num_rows:
            return None
        if (
            trace.stored(arm) is None
            or trace.scheduled(arm) is not None
            or any(sends.column("delay_level").unique().to_pylist())
        ):
            return None
        kinds |= set(sends.column("kind").unique().to_pylist())
    found = kinds.pop()
    return SendKind(str(found)) if not kinds and found in ROTATING | GIVEN else None


def _mode(trace: CaseTrace, rulebook: Rulebook) -> SendMode | None:
    """Return the only mode of a case; None if there are several, or of one that columns cannot judge."""
    modes = {word for arm in Arm for word in trace.table(TableName.SENDS, arm).column("mode").unique().to_pylist()}
    has_table = trace.entry.settings.send_latency_fault_enable
    if not modes - {None, SendMode.SYNC}:
        return SendMode.SYNC
    if modes == {SendMode.ONEWAY}:
        return None if has_table else SendMode.ONEWAY
    knows_choosers = all(rules.choosers_reported for rules in rulebook.rules.values())
    is_known = modes == {SendMode.ASYNC} and knows_choosers and not has_table and not rulebook.habits.confuses_answers
    return SendMode.ASYNC if is_known else None


def _longest_call(arms: Mapping[Arm, ArmPart], views: Mapping[Arm, Ints], returned: Mask) -> Ints:
    """Return the place of the candidate's call that took longest, which ``HeldUp`` may show; empty without a call."""
    places, columns = np.flatnonzero(returned), arms[Arm.CANDIDATE].columns
    own = views[Arm.CANDIDATE][places]
    took_ns = columns.returned_ns[own] - columns.start_ns[own]
    return places[took_ns.argmax() :][:1] if places.size else places


def _are_times_exact(trace: CaseTrace) -> bool:
    """True if all times are so near to the clock anchor that floating-point arithmetic on them is exact."""
    clock = trace.entry.clock
    if clock is None:
        return True
    for arm in Arm:
        for name, column in (
            (TableName.SENDS, "start_ns"),
            (TableName.SENDS, "end_ns"),
            (TableName.ATTEMPTS, "end_ns"),
        ):
            times = trace.tables[name, arm].column(column).to_numpy()
            if max(abs(int(times.min()) - clock.monotonic_ns), abs(int(times.max()) - clock.monotonic_ns)) >= _EXACT_NS:
                return False
    return True


def _parts(
    trace: CaseTrace, columns: Mapping[Arm, ArmColumns], kind: SendKind, brokers: WordDictionary, mode: SendMode
) -> tuple[dict[Arm, ArmPart], Carried] | None:
    everything = Carried()
    planned = trace.entry.sends_planned
    held = {arm: stored_columns(trace.tables[TableName.STORED, arm], columns[arm], brokers, planned) for arm in columns}
    stored = {arm: each for arm, each in held.items() if each is not None}
    if len(stored) < len(Arm):
        return None
    parts = {}
    earliest_ms = _earliest_stored(columns[Arm.BASELINE], stored[Arm.BASELINE], len(brokers.words), trace.entry.clock)
    for arm, each in columns.items():
        choices = choices_of(trace, arm, each) if mode is SendMode.ASYNC else None
        if choices is None and mode is SendMode.ASYNC:
            return None
        clock = trace.entry.clock or STEADY
        turns = turns_of(each, trace.routes(arm), kind, brokers, trace.entry.settings, clock, choices)
        contents = contents_of(each, stored[arm], everything, trace.entry.clock, bodies_compared=trace.bodies_compared)
        own = turns.keeps & stored[arm].at_home & contents.sound
        own &= ~near_faults(trace.faults, brokers, each.broker, each.tried_ns, each.answered_ns)
        own &= ~_after_trouble(each, len(brokers.words))
        if trace.entry.clock is not None and mode is not SendMode.ONEWAY:
            own &= _stored_in_time(each, stored[arm], earliest_ms, trace.entry.clock)
        lanes = None
        if kind in GIVEN:
            lanes = order_lanes(each, stored[arm])
            if lanes is None:
                return None
            own &= lanes.rises
        parts[arm] = ArmPart(each, turns, stored[arm], contents, own, lanes)
    return parts, everything


def _earliest_stored(
    columns: ArmColumns, stored: StoredColumns, brokers: int, clock: ClockAnchor | None
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """
    Return, by broker, the smallest upper bound of its clock's lead that any copy of a send shows.

    ``Acknowledged`` uses only some of these copies, so it never finds a smaller one.
    """
    least = np.full(brokers + 1, np.inf)
    if clock is not None:
        here = np.flatnonzero(stored.views >= 0)
        here = here[columns.send_row[stored.views[here]] >= 0]
        stamps = np.asarray(stored.table.column("store_timestamp_ms").to_numpy())[here]
        views = stored.views[here]
        bounds = stamps - wall_range_ms(clock, columns.start_ns[views], columns.end_ns[views])[0]
        for code in range(brokers):
            least[code] = bounds[stored.broker[here] == code].min(initial=np.inf)
    return least


def _stored_in_time(
    columns: ArmColumns,
    stored: StoredColumns,
    earliest_ms: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    clock: ClockAnchor,
) -> Mask:
    """True if a message was stored before its answer, for any lead of the broker's clock that ``Acknowledged`` may assume."""
    _, ended_ms = wall_range_ms(clock, columns.start_ns, columns.end_ns)
    late_ms = stored.store_ms - ended_ms - earliest_ms[columns.broker]
    return np.asarray(late_ms <= EARLY_MS - ROUNDING_MS)


def _after_trouble(columns: ArmColumns, brokers: int) -> Mask:
    """
    True for views that may end an interval of earlier views.

    These are a thread's next send after a failed call (failover), and its next attempt on a broker where one failed (absence).
    """
    after = np.zeros(columns.keys.size, dtype=np.bool_)
    threads, (failed, failed_at) = columns.threads, columns.failed
    following = np.flatnonzero(~columns.ended_well[:-1]) + 1
    after[following[threads[following] == threads[following - 1]]] = True
    for code in range(brokers):
        cause = failed[failed_at == code]
        if cause.size:
            here = np.flatnonzero(columns.simple & (columns.broker == code))
            at = np.searchsorted(here, cause, side="right")
            found, cause = here[at[at < here.size]], cause[at < here.size]
            after[found[threads[found] == threads[cause]]] = True
    return after


def _calm(arms: Mapping[Arm, ArmPart], views: Mapping[Arm, Ints], everything: Carried) -> Mask:
    candidate = arms[Arm.CANDIDATE]
    own = [at(arms[arm].own, views[arm]) & (views[arm] >= 0) for arm in Arm]
    calm = own[0] & own[1]
    contents = [_contents_at(arms[arm].contents, views[arm]) for arm in Arm]
    properties = at(candidate.columns.properties, views[Arm.CANDIDATE])
    is_alike = alike(contents[0], contents[1], properties, candidate.columns.planned_properties, everything)
    return np.asarray(calm & is_alike)


def _contents_at(contents: Contents, views: Ints) -> Contents:
    told, sound = at(contents.told, views), at(contents.sound, views)
    return Contents(told, sound, at(contents.carried, views), at(contents.flag, views), at(contents.sys_flag, views))


def at(values: Values, views: Ints) -> Values:
    """Return the values of views, by planned send; an arbitrary value for a send that was never begun."""
    return values if values.size == views.size and bool((views == np.arange(views.size)).all()) else values[views]


def _views_of(keys: Ints, own: Ints) -> Ints:
    if np.array_equal(keys, own):
        return np.arange(keys.size, dtype=np.int64)
    rows = np.searchsorted(own, keys)
    return np.where(np.append(own, MISSING)[rows] == keys, rows, MISSING)
