"""Which cases are judged in columns, and which of their sends bound what checks may show, on literal rows."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rocketdiff.analysis.sending.columns.arm_columns import WordDictionary, arm_columns
from rocketdiff.analysis.sending.columns.case_columns import (
    _are_times_exact,
    _calm,
    _earliest_stored,
    _kind,
    _longest_call,
    _mode,
    _stored_in_time,
    at,
    case_columns,
)
from rocketdiff.analysis.sending.columns.contents import Carried, Contents
from rocketdiff.analysis.sending.columns.stored_columns import stored_columns
from rocketdiff.analysis.sending.steps.rulebook import rulebook_for
from rocketdiff.core.arm import Arm
from rocketdiff.core.clock import ClockAnchor
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.traces.manifest import CaseEntry
from rocketdiff.traces.schema import TableName
from tests.analysis.builders import MS, S
from tests.analysis.sending.columns.planted import both_ways
from tests.analysis.trace_builders import QUEUES, SLOW, SMALL, trace

Row = dict[str, Any]


def rows(count: int = 3, *, baseline: Row | None = None, candidate: Row | None = None) -> dict[str, Any]:
    """Sends of both arms, with changes of each arm's last one."""
    found: dict[str, Any] = {"attempts": [{"send": number} for number in range(count)], "stored": []}
    for arm, last in ((Arm.BASELINE, baseline), (Arm.CANDIDATE, candidate)):
        sends: list[Row] = [{"send": number} for number in range(count)]
        sends[-1] |= last or {}
        found[f"sends_{arm}"] = sends
    return found


def rulebook(*, arms: Any = Arm, shared: bool = False, leaves_open: Any = None, **rules: Any) -> Any:
    each = SimpleNamespace(shared=False, choosers_reported=True)
    last = SimpleNamespace(shared=shared, choosers_reported=rules.get("choosers", True))
    both = dict(zip(arms, (each, last), strict=False))
    habits = SimpleNamespace(confuses_answers=rules.get("confuses", False))
    return SimpleNamespace(rules=both, may_leave_open=leaves_open, habits=habits)


PLAIN_QUEUES: Row = {"kind": "queue"}


@pytest.mark.parametrize(
    ("tables", "rules", "kind"),
    [
        (rows(), {}, SendKind.PLAIN),
        (rows(1, baseline=PLAIN_QUEUES, candidate=PLAIN_QUEUES), {}, SendKind.QUEUE),
        (rows(1, baseline={"kind": "batch"}, candidate={"kind": "batch"}), {}, SendKind.BATCH),
        (rows(1, baseline={"kind": "selector"}, candidate={"kind": "selector"}), {}, SendKind.SELECTOR),
        (rows(candidate=PLAIN_QUEUES), {}, None),
        (rows(1, baseline=PLAIN_QUEUES), {}, None),
        (rows(candidate={"delay_level": 3}), {}, None),
        (rows(baseline={"delay_level": 0}), {}, SendKind.PLAIN),
        (rows() | {"sends_candidate": []}, {}, None),
        (rows() | {"attempts_baseline": []}, {}, None),
        (rows() | {"scheduled_candidate": []}, {}, None),
        (rows(), {"arms": [Arm.BASELINE]}, None),
        (rows(), {"shared": True}, None),
        (rows(), {"leaves_open": lambda error: error is None}, None),
        (rows(), {"leaves_open": lambda error: error is not None}, SendKind.PLAIN),
    ],
)
def test_the_only_kind_of_call_of_a_case(tables: dict[str, Any], rules: dict[str, Any], kind: SendKind | None) -> None:
    """None for several, delays, an arm without rows, rules of one arm or of shared counters, and connections that stay open."""
    assert _kind(trace(SMALL, **tables), rulebook(**rules)) is kind


def test_no_kind_behind_a_proxy_or_without_what_was_stored() -> None:
    """A proxy chooses queues itself; messages that nobody read back are not at home."""
    behind = replace(SMALL, topology="two-masters-proxy")
    assert _kind(trace(behind, **rows()), rulebook()) is None
    unread = {name: one for name, one in rows().items() if name != "stored"}
    assert _kind(trace(SMALL, **unread, stored_baseline=[]), rulebook()) is None


NOWHERE: Row = {
    "mode": "oneway",
    "status": None,
    "outcome": "unknown",
    "broker": None,
    "queue_id": None,
    "queue_offset": None,
}
WRITTEN: Row = {"status": None, "outcome": "unknown"}
OF_MODE: dict[str, tuple[Row, Row]] = {
    "sync": ({}, {}),
    "async": ({"mode": "async", "callbacks": 1}, {}),
    "oneway": (NOWHERE, WRITTEN),
}
"""Columns of a send and of an attempt."""


def four(
    mode: str = "sync", *, returned: tuple[int | None, ...] = (), lead_ms: int = 0, **changes: dict[int, Row | None]
) -> dict[str, Any]:
    """
    Four sends per arm over four queues, returned after so many ns, and each stored by so many ms later than the one before.

    changes: of each arm's sends, by number; None if the arm never began it.
    """
    sent, tried = OF_MODE[mode]
    found: dict[str, Any] = {"stored": []}
    for number, queue in enumerate(QUEUES):
        one = queue | {"send": number, "start_ns": number * 10 * MS, "end_ns": number * 10 * MS + MS}
        back_ns = next(iter(returned[number : number + 1]), None)
        stamp_ms = number * (10 + lead_ms)
        found["stored"].append(
            queue | {"send": number, "store_timestamp_ms": stamp_ms, "born_timestamp_ms": number * 10}
        )
        for arm in Arm:
            change = changes.get(arm, {}).get(number, {})
            if change is not None:
                back: Row = {} if back_ns is None else {"returned_ns": number * 10 * MS + back_ns}
                found.setdefault(f"sends_{arm}", []).append(one | sent | back | change)
                found.setdefault(f"attempts_{arm}", []).append(one | tried)
    return found


LATE = replace(SMALL, clock=ClockAnchor(1 << 54, 0))
STEPPED = replace(SMALL, clock=ClockAnchor(0, 0, ((15 * MS, 0), (25 * MS, 30 * MS))))
UNCLOCKED = replace(SMALL, clock=None)
BATCHES: dict[int, Row | None] = {number: {"kind": "batch"} for number in range(4)}
NAMED: dict[int, Row | None] = {number: {"kind": "queue", "argument": number} for number in range(4)}
FAR_APART: dict[str, Any] = {"stored": [{"send": number, "queue_offset": number << 60} for number in range(4)]}
REFUSED: dict[int, Row | None] = {1: {"code": 1}}


@pytest.mark.parametrize(
    ("tables", "entry", "slow", "returned"),
    [
        (four(), SMALL, [0], []),
        (four(), UNCLOCKED, [0], []),
        (four(), LATE, None, None),
        (four(), STEPPED, [0, 2], []),
        (four(lead_ms=120), SMALL, [0, 1, 3], []),
        (four(lead_ms=120), UNCLOCKED, [0], []),
        (four("oneway"), SMALL, [0], [0, 1, 2, 3]),
        (four("oneway", lead_ms=120), SMALL, [0], [0, 1, 2, 3]),
        (four("oneway", candidate={2: {"end_ns": 22 * MS}}), SMALL, [0, 2], [0, 1, 2, 3]),
        (four(baseline={0: {"error": SLOW, "status": None}}), SMALL, [0, 1], []),
        (four("async"), SMALL, [0], []),
        (four("async", returned=(5, None, 9, 7)), SMALL, [0, 2], [0, 2, 3]),
        (four("async", returned=(9, 7, 5, 8), candidate={3: None}), SMALL, [0, 3], [0, 1, 2]),
        (four("async", returned=(9, 7, 5, 8), baseline={3: None}), SMALL, [0, 3], [0, 1, 2]),
        (four(baseline=REFUSED), SMALL, [0, 1], []),
        (four(candidate=REFUSED), SMALL, [0, 1], []),
        (four(candidate={1: {"code": 1}, 3: None}), SMALL, [0, 1, 3], []),
        (four(baseline={3: None}), SMALL, [0, 3], []),
        (four(candidate={3: None}), SMALL, [0, 3], []),
        (four(candidate={3: {"kind": "queue"}}), SMALL, None, None),
        (four(candidate={3: {"mode": "oneway"}}), SMALL, None, None),
        (four(candidate={1: {"send": 0}}), SMALL, None, None),
        (four(candidate={3: {"send": 5_000}}), SMALL, None, None),
        (four("async", candidate={3: {"send": 4}}), SMALL, None, None),
        (four(baseline=NAMED, candidate=NAMED), SMALL, [0], []),
        (four(baseline=NAMED, candidate=NAMED) | FAR_APART, SMALL, None, None),
        (four("async", baseline=BATCHES, candidate=BATCHES), SMALL, None, None),
    ],
)  # fmt: skip
def test_sends_of_a_small_case_that_become_objects(
    tables: dict[str, Any], entry: CaseEntry, slow: list[int] | None, returned: list[int] | None
) -> None:
    """
    The first follows none; beside it at most two more of four, among them the candidate's longest call that returned.

    The facts are those of the replay, beside messages of other programs too.
    """
    foreign = {"send": None, "queue_offset": 7}
    case = trace(entry, **tables | {"stored": [*tables["stored"], foreign]}, routes=[{}])
    here, there = both_ways(case)
    assert here == there
    found = case_columns(case, rulebook_for(case))
    if found is None:
        assert slow is None
        return
    assert not isinstance(here, str)
    assert (np.flatnonzero(found.slow).tolist(), np.flatnonzero(found.returned).tolist()) == (slow, returned)
    begun = {arm: len(tables[f"sends_{arm}"]) for arm in Arm}
    assert found.keys.tolist() == [0, 1, 2, 3]
    assert {arm: (views >= 0).sum() for arm, views in found.views.items()} == begun


@pytest.mark.parametrize(
    ("views", "expected"),
    [([0, 1, 2], [7, 8, 9]), ([0, 1], [7, 8]), ([2, 1, 0], [9, 8, 7]), ([1, 2], [8, 9]), ([2, 0, 1], [9, 7, 8])],
)
def test_values_of_views(views: list[int], expected: list[int]) -> None:
    """In the order of the views, which may be some of them."""
    assert at(np.array([7, 8, 9]), np.array(views)).tolist() == expected


ASYNC: Row = {"mode": "async"}
ONE_WAY: Row = {"mode": "oneway"}


@pytest.mark.parametrize(
    ("baseline", "candidate", "rules", "on", "mode"),
    [
        ({}, {}, {}, False, SendMode.SYNC),
        ({"mode": "sync"}, {}, {}, True, SendMode.SYNC),
        (ASYNC, ASYNC, {}, False, SendMode.ASYNC),
        (ASYNC, {}, {}, False, None),
        (ASYNC, {"mode": "sync"}, {}, False, None),
        (ONE_WAY, ONE_WAY, {"choosers": False, "confuses": True}, False, SendMode.ONEWAY),
        (ONE_WAY, ONE_WAY, {}, True, None),
        (ONE_WAY, {}, {}, False, None),
        (ONE_WAY, ASYNC, {}, False, None),
        (ASYNC, ASYNC, {}, True, None),
        (ASYNC, ASYNC, {"choosers": False}, False, None),
        (ASYNC, ASYNC, {"confuses": True}, False, None),
    ],
)
def test_the_only_mode_of_a_case(baseline: Row, candidate: Row, rules: Any, on: bool, mode: SendMode | None) -> None:
    """Asynchronous sends need known choosers, answers that are not confused, and like one-way ones no fault table."""
    entry = replace(SMALL, settings=ClientSettings(send_latency_fault_enable=on))
    case = trace(entry, **rows(1, baseline=baseline, candidate=candidate))
    assert _mode(case, rulebook(**rules)) is mode


@pytest.mark.parametrize(
    ("monotonic_ns", "exact"),
    [(0, True), (2**53 - 1, True), (2**53, False), (MS - 2**53 + 1, True), (MS - 2**53, False)],
)
def test_times_that_a_floating_point_number_shows_exactly(monotonic_ns: int, exact: bool) -> None:
    """Calls from 0 to 1 ms, less than 2⁵³ ns away from the anchor."""
    entry = replace(SMALL, clock=ClockAnchor(monotonic_ns, 0))
    assert _are_times_exact(trace(entry, **rows())) is exact
    assert _are_times_exact(trace(replace(SMALL, clock=None), **rows()))


@pytest.mark.parametrize(
    ("returned", "place"), [((True, True, True), [1]), ((True, False, True), [2]), ((False, False, False), [])]
)
def test_the_candidate_s_longest_call(returned: tuple[bool, ...], place: list[int]) -> None:
    """Calls of 1, 9 and 5 ns in the order of their planned sends."""
    columns = SimpleNamespace(start_ns=np.array([100, 50, 10]), returned_ns=np.array([105, 59, 11]))
    arms: Any = {Arm.CANDIDATE: SimpleNamespace(columns=columns)}
    views = {Arm.CANDIDATE: np.array([2, 1, 0])}
    assert _longest_call(arms, views, np.array(returned)).tolist() == place


@pytest.mark.parametrize(
    ("second_ms", "third_ms", "earliest_ms", "in_time"),
    [(1_000, 2_000, 0.0, [True, True, True]), (1_109, 2_000, 0.0, [True] * 3), (1_110, 2_000, 0.0, [True, False, True]),
     (1_109, 1_999, -1.0, [True, False, True]), (1_050, 2_050, 0.0, [True, True, True]),
     (1_000, 2_109, 0.0, [True, True, True]), (1_000, 2_110, 0.0, [True, True, False])],
)  # fmt: skip
def test_messages_stored_before_their_answers(
    second_ms: int, third_ms: int, earliest_ms: float, in_time: list[bool]
) -> None:
    """Answered after 10.6 or 10 ms; 100 ms are tolerated, less 1 ms, for the smallest lead of the clock that any message of a finished call shows."""
    table: dict[str, Any] = {"sends": [], "attempts": [], "stored": []}
    for number, at_ms in enumerate((0, second_ms, third_ms)):
        took_ns = 10_000_000 if number == 2 else 10_600_000
        times = {"send": number + 1, "start_ns": number * S, "end_ns": number * S + took_ns}
        table["sends"].append(times | {"queue_offset": number})
        table["attempts"].append(times)
        table["stored"].append({"send": number + 1, "queue_offset": number, "store_timestamp_ms": at_ms})
    table["stored"].append({"send": None, "queue_offset": 3, "store_timestamp_ms": -9_000})
    table["attempts"].insert(0, {"send": 0})
    table["stored"].append({"send": 0, "queue_offset": 4, "store_timestamp_ms": -8_000})
    case, brokers, clock = trace(SMALL, **table), WordDictionary(), ClockAnchor(0, 0)
    columns = arm_columns(case, Arm.CANDIDATE, brokers)
    assert columns is not None
    stored = stored_columns(case.tables[TableName.STORED, Arm.CANDIDATE], columns, brokers, 4)
    assert stored is not None
    found = _earliest_stored(columns, stored, 1, clock)
    assert found.tolist() == [earliest_ms, np.inf]
    assert _stored_in_time(columns, stored, found, clock).tolist()[1:] == in_time
    assert _earliest_stored(columns, stored, 1, None).tolist() == [np.inf, np.inf]


def test_sends_that_are_calm_in_both_arms() -> None:
    """The third has a flag of one arm alone, the fourth other properties; the candidate never began the last."""
    own = {Arm.BASELINE: [True, False, True, True, True], Arm.CANDIDATE: [True, True, True, True]}
    carried = {Arm.BASELINE: [0, 0, 0, 0, 0], Arm.CANDIDATE: [0, 0, 0, 1]}
    flags = {Arm.BASELINE: [5, 5, 5, 5, 5], Arm.CANDIDATE: [5, 5, 6, 5]}
    arms: Any = {}
    for arm in Arm:
        every = np.ones(len(own[arm]), dtype=np.bool_)
        contents = Contents(every, every, np.array(carried[arm]), np.array(flags[arm]), np.array(carried[arm]) * 0)
        columns = SimpleNamespace(properties=np.array(carried[arm]) * 0, planned_properties=(None,))
        arms[arm] = SimpleNamespace(own=np.array(own[arm]), contents=contents, columns=columns)
    views = {Arm.BASELINE: np.arange(5), Arm.CANDIDATE: np.array([0, 1, 2, 3, -1])}
    everything = Carried([{"A": "b"}, {"A": "c"}])
    assert _calm(arms, views, everything).tolist() == [True, False, False, False, False]
    arms = {Arm.BASELINE: arms[Arm.CANDIDATE], Arm.CANDIDATE: arms[Arm.BASELINE]}
    views = {Arm.BASELINE: views[Arm.CANDIDATE], Arm.CANDIDATE: views[Arm.BASELINE]}
    assert _calm(arms, views, everything).tolist() == [True, False, False, False, False]
