"""Arrays of a case, on literal rows: simple views, copies at home, faults, wall times and counts."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

from rocketdiff.analysis.sending.checks.context import CaseContext
from rocketdiff.analysis.sending.columns.arm_columns import (
    ArmColumns,
    WordDictionary,
    _taken,
    arm_columns,
    longest_wait_ms,
    place_of,
)
from rocketdiff.analysis.sending.columns.calm_sends import CalmColumns, buckets_of
from rocketdiff.analysis.sending.columns.calm_tallies import OrderedCollector, _are_sparse, added_up, counted
from rocketdiff.analysis.sending.columns.case_columns import CaseColumns, _after_trouble, _views_of
from rocketdiff.analysis.sending.columns.choices import Choices, choices_of
from rocketdiff.analysis.sending.columns.fault_columns import near_faults, phase_codes
from rocketdiff.analysis.sending.columns.observed import _CalmBefore, _RunningBound
from rocketdiff.analysis.sending.columns.stored_columns import stored_columns
from rocketdiff.analysis.sending.columns.turns import Turns, turns_of
from rocketdiff.analysis.sending.send_view import Copy, SendView
from rocketdiff.analysis.sending.wall_times import wall_range_ms
from rocketdiff.core.arm import Arm
from rocketdiff.core.clock import STEADY, ClockAnchor
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.oracle.producer.asynchronous.sends import POOL
from rocketdiff.traces.schema import TableName
from tests.analysis.builders import MS, S, fault
from tests.analysis.trace_builders import SLOW, SMALL, trace

Row = dict[str, Any]


def three(sends: Row | None = None, attempts: Row | None = None, stored: Row | None = None) -> dict[str, Any]:
    """Three sends of a thread, each stored at once; changed columns of the second's rows."""
    rows: dict[str, list[Row]] = {"sends": [], "attempts": [], "stored": []}
    for number in range(3):
        one = {"send": number, "queue_offset": number, "start_ns": number * S, "end_ns": number * S + 10 * MS}
        for name, changes in (("sends", sends), ("attempts", attempts), ("stored", stored)):
            given = {key: value for key, value in one.items() if name != "stored" or not key.endswith("_ns")}
            given = {key: value for key, value in given.items() if name != "attempts" or key != "queue_offset"}
            rows[name].append(given | ((changes or {}) if number == 1 else {}))
    return rows


def columns_of(rows: dict[str, Any], mode: SendMode = SendMode.SYNC) -> ArmColumns | None:
    return arm_columns(trace(SMALL, **rows), Arm.CANDIDATE, WordDictionary(), mode)


@pytest.mark.parametrize(
    ("sends", "attempts"),
    [
        ({"status": "FLUSH_DISK_TIMEOUT"}, {}),
        ({"status": None}, {}),
        ({"route_after": 2}, {}),
        ({"error": SLOW}, {}),
        ({"cause": SLOW}, {}),
        ({"code": 1}, {}),
        ({"callbacks": 1}, {}),
        ({"queue_id": 1}, {}),
        ({"broker": "broker-b"}, {}),
        ({"queue_offset": None}, {}),
        ({}, {"status": None}),
        ({}, {"outcome": "unknown"}),
        ({}, {"error": SLOW}),
        ({}, {"code": 1}),
        ({}, {"attempt": 1}),
        ({}, {"queue_id": 1}),
        ({}, {"broker": "broker-b"}),
        ({"queue_id": 65_536}, {"queue_id": 65_536}),
        ({"queue_id": None}, {"queue_id": 65_536}),
        ({}, {"end_ns": S - 1}),
        ({"end_ns": S + 151 * MS}, {"end_ns": S + 151 * MS}),
        ({"end_ns": S + 2 * MS - 1}, {"end_ns": S + 2 * MS}),
    ],
)
def test_which_views_are_not_simple(sends: Row, attempts: Row) -> None:
    """A simple send had one quick attempt, which was stored where the result says."""
    columns = columns_of(three(sends, attempts))
    assert columns is not None
    assert columns.simple.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("sends", "attempts", "mode"),
    [
        ({}, {}, SendMode.SYNC),
        ({}, {"end_ns": S}, SendMode.SYNC),
        ({"end_ns": S + 151 * MS - 1}, {"end_ns": S + 151 * MS - 1}, SendMode.SYNC),
        ({"queue_id": 65_535}, {"queue_id": 65_535}, SendMode.SYNC),
        ({"queue_offset": 0}, {}, SendMode.SYNC),
    ],
)
def test_which_views_are_simple(sends: Row, attempts: Row, mode: SendMode) -> None:
    """Up to the tolerance for a busy machine, in any queue."""
    columns = columns_of(three(sends, attempts), mode)
    assert columns is not None
    assert columns.simple.tolist() == [True] * 3
    assert (columns.threads.tolist(), columns.sends.tolist()) == ([0] * 3, [0, 1, 2])


@pytest.mark.parametrize(("callbacks", "is_simple"), [(None, False), (0, False), (1, True), (2, False)])
def test_an_asynchronous_view_is_called_back_once(callbacks: int | None, is_simple: bool) -> None:
    """An asynchronous send is simple if its callback was called once."""
    rows = three({"mode": "async", "callbacks": callbacks})
    for number in (0, 2):
        rows["sends"][number] |= {"mode": "async", "callbacks": 1}
    columns = columns_of(rows, SendMode.ASYNC)
    assert columns is not None
    assert columns.simple.tolist() == [True, is_simple, True]


ONE_WAY: Row = {"mode": "oneway", "status": None, "outcome": "unknown"}


@pytest.mark.parametrize(
    ("sends", "attempts", "is_simple"),
    [
        ({}, {}, True),
        ({"end_ns": S + 301 * MS - 1}, {}, True),
        ({"end_ns": S + 301 * MS}, {}, False),
        ({}, {"end_ns": S + 151 * MS - 1}, True),
        ({}, {"end_ns": S + 151 * MS}, False),
        ({}, {"end_ns": S - 1}, False),
        ({"status": "SEND_OK"}, {}, False),
        ({"outcome": "ok"}, {}, False),
        ({"broker": "broker-a"}, {}, False),
        ({"queue_id": 0}, {}, False),
        ({"queue_offset": 1}, {}, False),
        ({"error": SLOW}, {}, False),
        ({"callbacks": 1}, {}, False),
        ({"route_after": 2}, {}, False),
        ({}, {"status": "SEND_OK"}, False),
        ({}, {"outcome": "ok"}, False),
        ({}, {"error": SLOW}, False),
        ({}, {"code": 1}, False),
        ({}, {"attempt": 1}, False),
    ],
)
def test_a_one_way_view_names_no_queue(sends: Row, attempts: Row, is_simple: bool) -> None:
    """A one-way send is simple if its attempt was written within 151 ms, and its call over 301 ms after it began."""
    rows = three()
    for number in range(3):
        nowhere = ONE_WAY | {"broker": None, "queue_id": None, "queue_offset": None}
        rows["sends"][number] |= nowhere | (sends if number == 1 else {})
        rows["attempts"][number] |= {"status": None, "outcome": "unknown"} | (attempts if number == 1 else {})
    columns = columns_of(rows, SendMode.ONEWAY)
    assert columns is not None
    assert columns.simple.tolist() == [True, is_simple, True]
    ended_ns = -1 if sends.get("error") else sends.get("end_ns", S + 10 * MS)
    assert columns.returned_ns.tolist() == [10 * MS, ended_ns, 2 * S + 10 * MS]


def test_views_of_sends_that_did_not_return_or_tried_more() -> None:
    """A send that never returned, one without an attempt and one with two are views, and not simple."""
    rows = three()
    rows["sends"][2] |= {"error": SLOW, "status": None, "queue_offset": None}
    del rows["sends"][0], rows["attempts"][1]
    rows["attempts"][1] |= {"error": SLOW, "broker": "broker-b"}
    rows["attempts"].append({"send": 2, "attempt": 1, "queue_id": 1})
    columns = columns_of(rows)
    assert columns is not None
    assert columns.simple.tolist() == [False] * 3
    assert (columns.send_row.tolist(), columns.first_attempt.tolist(), columns.attempts.tolist()) == (
        [-1, 0, 1],
        [0, -1, 1],
        [1, 0, 2],
    )
    assert (columns.ended_well.tolist(), columns.last_place.tolist()) == ([False, True, False], [0, -1, 1])
    assert [each.tolist() for each in columns.failed] == [[2], [1]]


def test_a_second_attempt_at_the_same_queue_is_not_simple() -> None:
    """The first may have stored the message, too."""
    rows = three()
    rows["attempts"].append({"send": 2, "attempt": 1, "start_ns": 2 * S, "end_ns": 2 * S + 10 * MS})
    columns = columns_of(rows)
    assert columns is not None
    assert (columns.simple.tolist(), columns.attempts.tolist()) == ([True, True, False], [1, 1, 2])


@pytest.mark.parametrize(
    ("sends", "attempts", "threads", "after"),
    [
        ({}, {}, (0, 0), [False] * 3),
        ({"error": SLOW, "status": None}, {}, (0, 0), [False, False, True]),
        ({"error": SLOW, "status": None}, {}, (0, 1), [False] * 3),
        ({"error": SLOW, "status": None}, {}, (1, 1), [False, False, True]),
        ({}, {"error": SLOW, "status": None}, (0, 0), [False, False, True]),
        ({}, {"error": SLOW, "status": None}, (0, 1), [False] * 3),
        ({}, {"error": SLOW, "status": None, "broker": "broker-b"}, (0, 0), [False] * 3),
    ],
)
def test_which_views_end_an_interval_of_earlier_ones(
    sends: Row, attempts: Row, threads: tuple[int, int], after: list[bool]
) -> None:
    """A thread's next send after a failed call, and its next attempt at a broker where one failed."""
    rows, brokers = three(sends, attempts), WordDictionary()
    for name in ("sends", "attempts"):
        rows[name][1]["thread"], rows[name][2]["thread"] = threads
    columns = arm_columns(trace(SMALL, **rows), Arm.CANDIDATE, brokers)
    assert columns is not None
    assert _after_trouble(columns, len(brokers.words)).tolist() == after


@pytest.mark.parametrize(
    ("failed", "places", "after"),
    [((0, 2), "aaa", [False, True, False]), ((0, 1), "abab", [False, False, True, True]), ((3,), "aaab", [False] * 4)],
)
def test_the_next_simple_attempt_after_each_that_failed(
    failed: tuple[int, ...], places: str, after: list[bool]
) -> None:
    """At the same broker; there may be none."""
    rows: dict[str, Any] = {"sends": [], "attempts": []}
    for number, place in enumerate(places):
        one = {"send": number, "broker": f"broker-{place}", "start_ns": number * S, "end_ns": number * S + MS}
        rows["sends"].append(one)
        rows["attempts"].append(one | ({"error": SLOW, "status": None} if number in failed else {}))
    brokers = WordDictionary()
    columns = arm_columns(trace(SMALL, **rows), Arm.CANDIDATE, brokers)
    assert columns is not None
    assert _after_trouble(columns, len(brokers.words)).tolist() == after


def choices(rows: dict[str, Any]) -> Choices | None:
    case = trace(SMALL, **rows)
    columns = arm_columns(case, Arm.CANDIDATE, WordDictionary(), SendMode.ASYNC)
    assert columns is not None
    return choices_of(case, Arm.CANDIDATE, columns)


def test_choices_in_the_order_of_the_threads_that_made_them() -> None:
    """The client's thread 5 chose for sends 0 and 2, and for the retry of the last; none is known beside an unseen one."""
    rows = three()
    rows["attempts"][0]["chooser"] = rows["attempts"][2]["chooser"] = 5
    rows["attempts"].append({"send": 2, "attempt": 1, "start_ns": 3 * S, "end_ns": 3 * S, "chooser": 5})
    found = choices(rows)
    assert found is not None
    assert found.views.tolist() == [1, 0, 2, 2]
    assert found.threads.tolist() == [0, POOL + 5, POOL + 5, POOL + 5]
    assert found.at_ns.tolist() == [S, 0, 2 * S, 3 * S]
    assert found.follows.tolist() == [False, False, True, True]
    assert found.is_retry.tolist() == [False, False, False, True]
    for table in ("sends", "attempts"):
        gone = three()
        del gone[table][1]
        assert choices(gone) is None


@pytest.mark.parametrize(
    ("kind", "argument", "keeps"),
    [
        (SendKind.SELECTOR, 2, [False, True, True]),
        (SendKind.SELECTOR, 6, [False, True, True]),
        (SendKind.SELECTOR, 0, [False] * 3),
        (SendKind.QUEUE, 0, [False, True, True]),
        (SendKind.QUEUE, 2, [False] * 3),
    ],
)
def test_a_given_queue_is_of_the_sorted_list_and_a_selector_s_of_the_list_itself(
    kind: SendKind, argument: int, keeps: list[bool]
) -> None:
    """Three sends to queue 0 of broker-a, third in the list; the first follows none."""
    rows, brokers = three(), WordDictionary()
    for send in rows["sends"]:
        send |= {"kind": str(kind), "argument": argument}
    columns = arm_columns(trace(SMALL, **rows), Arm.CANDIDATE, brokers)
    assert columns is not None
    queues = tuple((broker, queue) for broker in ("broker-b", "broker-a") for queue in (0, 1))
    assert turns_of(columns, {1: queues}, kind, brokers, SMALL.settings).keeps.tolist() == keeps
    rows["sends"][1]["status"] = None
    failed = arm_columns(trace(SMALL, **rows), Arm.CANDIDATE, brokers)
    assert failed is not None
    assert not turns_of(failed, {1: queues}, kind, brokers, SMALL.settings).keeps.any()


def test_the_lead_of_a_clock_before_each_place_of_a_stretch() -> None:
    """Sends 1 and 3 bound it by 5 and 2 ms; before the first of them nothing is known."""
    before = _CalmBefore(cast(CaseColumns, SimpleNamespace(rotates=True)), cast(CaseContext, None))
    vars(before)["_bounds"] = (_RunningBound("broker-a", np.array([1, 3]), np.array([5.0, 2.0])),)
    found = []
    for stretch in ([0, 2, 5], [1, 4]):
        before.begin(np.array(stretch))
        for place in stretch:
            before.go_to(place)
            found.append(list(before.clock_leads()))
    assert found == [[], [("broker-a", 5.0)], [("broker-a", 2.0)], [], [("broker-a", 2.0)]]


@pytest.mark.parametrize(("mode", "clock"), [(SendMode.ONEWAY, STEADY), (SendMode.SYNC, None)])
def test_no_lead_is_known_without_answers_or_a_clock(mode: SendMode, clock: ClockAnchor | None) -> None:
    """One-way sends are not acknowledged."""
    case: Any = SimpleNamespace(rotates=True, mode=mode, arms={arm: SimpleNamespace(lanes=None) for arm in Arm})
    context: Any = SimpleNamespace(entry=SimpleNamespace(clock=clock))
    before = _CalmBefore(case, context)
    before.begin(np.array([1]))
    before.go_to(1)
    assert list(before.clock_leads()) == []
    assert not before.has_lanes
    copy, side = cast(Copy, None), cast(SendView, SimpleNamespace(arm=Arm.CANDIDATE))
    assert before.last_in_lane(side, copy) is None


def test_times_of_calm_asynchronous_calls() -> None:
    """Of calls that returned in both arms and did not become objects; none of synchronous ones."""
    calls = SimpleNamespace(start_ns=np.array([0, S, 2 * S]), returned_ns=np.array([3 * MS, S + MS, 2 * S + 500_000]))
    arms = {Arm.BASELINE: np.array([0, 1, 2]), Arm.CANDIDATE: np.array([2, 1, 0])}
    case: Any = SimpleNamespace(
        rotates=True, mode=SendMode.ASYNC, slow=np.array([True, False, False]), returned=np.array([True, False, True]),
        views=arms, arms={arm: SimpleNamespace(columns=calls) for arm in Arm},
    )  # fmt: skip
    assert _CalmBefore(case, cast(CaseContext, None)).calls_ms() == ([0.5], [3.0])
    case.mode = SendMode.SYNC
    assert _CalmBefore(case, cast(CaseContext, None)).calls_ms() == ((), ())


@pytest.mark.parametrize(
    ("threads", "last"),
    [((0, 0, 0), [(0, 7 * S)]), ((0, 0, 1), [(0, S), (1, 7 * S)]), ((0, 1, 2), [(0, 0), (1, S), (2, 7 * S)])],
)
def test_the_last_attempt_of_each_thread(threads: tuple[int, ...], last: list[tuple[int, int]]) -> None:
    """The last send has two; a thread whose last send has none is at its last before it."""
    rows = three()
    for table in ("sends", "attempts"):
        for row, thread in zip(rows[table], threads, strict=True):
            row["thread"] = thread
    rows["attempts"].append({"thread": threads[2], "send": 2, "attempt": 1, "start_ns": 7 * S, "end_ns": 8 * S})
    rows["sends"].append({"thread": threads[2], "send": 3, "start_ns": 9 * S, "end_ns": 9 * S})
    traced = trace(SMALL, **rows)
    columns = arm_columns(traced, Arm.CANDIDATE, WordDictionary())
    case: Any = SimpleNamespace(rotates=True, arms={Arm.CANDIDATE: SimpleNamespace(columns=columns)})
    context: Any = SimpleNamespace(trace=traced)
    assert list(_CalmBefore(case, context).last_attempts(Arm.CANDIDATE)) == last


def test_no_thread_without_attempts_has_a_last_one() -> None:
    """Of an arm whose sends never came to an attempt."""
    traced = trace(SMALL, **(three() | {"attempts": []}))
    columns = arm_columns(traced, Arm.CANDIDATE, WordDictionary())
    case: Any = SimpleNamespace(rotates=True, arms={Arm.CANDIDATE: SimpleNamespace(columns=columns)})
    context: Any = SimpleNamespace(trace=traced)
    assert list(_CalmBefore(case, context).last_attempts(Arm.CANDIDATE)) == []


@pytest.mark.parametrize(("sends", "is_dense"), [((0, 1, 1_024), True), ((0, 1, 1_025), False)])
def test_send_numbers_far_apart_have_no_columns(sends: tuple[int, ...], is_dense: bool) -> None:
    """Four times as many as there are sends and copies, here six, and 1,000."""
    rows = three()
    for table in rows.values():
        for row, number in zip(table, sends, strict=True):
            row["send"] = number
    traced, brokers = trace(SMALL, **rows), WordDictionary()
    columns = arm_columns(traced, Arm.CANDIDATE, brokers)
    assert columns is not None
    found = stored_columns(traced.tables[TableName.STORED, Arm.CANDIDATE], columns, brokers, 2_000)
    assert (found is not None) is is_dense


def test_a_send_number_of_two_threads_has_no_columns() -> None:
    """A copy has the number of its send alone."""
    rows = three()
    for table in ("sends", "attempts"):
        rows[table][2] |= {"thread": 1, "send": 0}
    traced, brokers = trace(SMALL, **rows), WordDictionary()
    columns = arm_columns(traced, Arm.CANDIDATE, brokers)
    assert columns is not None
    assert stored_columns(traced.tables[TableName.STORED, Arm.CANDIDATE], columns, brokers, 3) is None


@pytest.mark.parametrize(
    ("places", "changes", "keeps"),
    [
        ("a0 a1 b0", {}, [False, True, True]),
        ("a1 b0 b1 a0", {}, [False, True, True, True]),
        ("a0 b0 b1", {}, [False, False, True]),
        ("a0 a0 a1", {}, [False, False, True]),
        ("a0 a1 b0", {1: {"thread": 1}, 2: {"thread": 1}}, [False, False, True]),
        ("a0 a1 b0", {2: {"route": 2, "route_after": 2}}, [False, True, False]),
        ("a0 a1 b0", {1: {"status": "FLUSH_DISK_TIMEOUT"}}, [False, False, True]),
        ("a0 a1 b0", {1: {"start_ns": S - 500 * MS}}, [False, False, True]),
        ("a0 a1 b0", {1: {"start_ns": S - 499 * MS}}, [False, True, True]),
        ("a0 c7 b0", {}, [False, False, False]),
    ],
)
def test_views_that_take_the_queue_after_the_last_one(places: str, changes: dict[int, Row], keeps: list[bool]) -> None:
    """Of the same thread and list a0 a1 b0 b1, if simple, with time left of 500 ms at its attempt."""
    rows: dict[str, Any] = {"sends": [], "attempts": [], "stored": []}
    for number, place in enumerate(places.split()):
        one = {"send": number, "broker": f"broker-{place[0]}", "queue_id": int(place[1:]), "start_ns": number * S}
        one["end_ns"] = number * S + MS
        rows["sends"].append(one | {"queue_offset": 0} | changes.get(number, {}))
        thread = {"thread": rows["sends"][-1].get("thread", 0)}
        rows["attempts"].append(one | thread)
    brokers = WordDictionary()
    columns = arm_columns(trace(SMALL, **rows), Arm.CANDIDATE, brokers)
    assert columns is not None
    queues = tuple((f"broker-{name}", queue) for name in "ab" for queue in (0, 1))
    found = turns_of(columns, {1: queues, 2: queues}, SendKind.PLAIN, brokers, SMALL.settings)
    assert found.keeps.tolist() == keeps
    assert found.total.tolist() == [4] * len(keeps)


Calls = tuple[tuple[int, int, int, int], ...]
"""Of each call its start, its attempt's start and end, and its end, in µs."""


def turns(
    calls: Calls,
    queues: tuple[tuple[str, int], ...],
    clock: ClockAnchor = STEADY,
    *,
    is_async: bool = False,
    **changes: Any,
) -> Turns:
    """Turns of calls to the queues a0 a1 b0 b1 in rotation."""
    mode, more = (SendMode.ASYNC, {"mode": "async", "callbacks": 1}) if is_async else (SendMode.SYNC, {})
    rows: dict[str, Any] = {"sends": [], "attempts": [], "stored": []}
    for number, times in enumerate(calls):
        start, tried, answered, end = (at * 1_000 for at in times)
        one = {"send": number, "broker": f"broker-{'aabb'[number % 4]}", "queue_id": number % 2}
        rows["sends"].append(one | more | {"start_ns": start, "end_ns": end})
        rows["attempts"].append(one | {"start_ns": tried, "end_ns": answered})
    brokers, case, settings = WordDictionary(), trace(SMALL, **rows), replace(SMALL.settings, **changes)
    columns = arm_columns(case, Arm.CANDIDATE, brokers, mode)
    assert columns is not None
    chosen = choices_of(case, Arm.CANDIDATE, columns) if is_async else None
    return turns_of(columns, {1: queues}, SendKind.PLAIN, brokers, settings, clock, chosen)


AB = tuple((f"broker-{name}", queue) for name in "ab" for queue in (0, 1))


@pytest.mark.parametrize(
    ("calls", "keeps"),
    [
        (((0, 0, 900, 900), (1_000, 1_000, 49_999, 49_999)), [True]),
        (((0, 0, 900, 900), (1_000, 1_000, 50_000, 50_000)), [False]),
        (((0, 0, 900, 900), (1_999, 1_999, 49_999, 49_999)), [True]),
        (((0, 0, 900, 900), (900, 900, 1_900, 1_900)), [True]),
        (((0, 0, 900, 900), (899, 899, 1_900, 1_900)), [False]),
        (((0, 0, 900, 900), (1_000, 999, 1_900, 1_900)), [False]),
        (((0, 0, 900, 900), (1_000, 1_000, 1_901, 1_900)), [False]),
        (((0, 0, 90_000, 90_000), (90_000, 90_000, 91_000, 91_000)), [True]),
        (((0, 0, 900, 900), (1_000, 1_000, 1_900, 1_900), (1_899, 1_899, 2_900, 2_900)), [True, False]),
    ],
)
def test_quick_calls_keep_their_turn_beside_a_fault_table(calls: Calls, keeps: list[bool]) -> None:
    """Less than 50 ms whatever the clock shows, from before its attempt to after its answer, and after the call before it."""
    for queues in (AB, AB[::-1]):
        assert turns(calls, queues, send_latency_fault_enable=True).keeps.tolist() == [False, *keeps]


@pytest.mark.parametrize(("answered_us", "keeps"), [(491_999, True), (492_000, False)])
def test_an_asynchronous_call_keeps_its_turn_until_10_ms_before_its_timeout(answered_us: int, keeps: bool) -> None:
    """Of 500 ms; it begins at 1 ms, and its attempt at 401 ms."""
    calls = ((0, 0, 900, 900), (1_000, 401_000, answered_us, answered_us), (900_000, 900_000, 900_900, 900_900))
    found = turns(calls, AB, is_async=True)
    assert found.keeps.tolist() == [False, keeps, True]
    assert found.choices is not None


@pytest.mark.parametrize(
    ("step_ns", "keeps"),
    [
        (None, [False, True, True]),
        ((2_500_000, 2_900_000), [False, True, True]),
        ((1_900_000, 2_900_000), [False, False, True]),
        ((2_500_000, 3_000_000), [False, True, False]),
        ((1_200_000, 1_300_000), [False, False, True]),
        ((0, 9_000_000), [False, False, False]),
    ],
)
def test_a_call_beside_a_step_of_the_clock_keeps_no_turn(step_ns: tuple[int, int] | None, keeps: list[bool]) -> None:
    """The calls last from 1 to 1.9 ms, and from 3 ms on."""
    calls = ((0, 0, 900, 900), (1_000, 1_000, 1_900, 1_900), (3_000, 3_000, 3_900, 3_900))
    clock = STEADY if step_ns is None else ClockAnchor(0, 0, ((step_ns[0], 0), (step_ns[1], 6 * MS)))
    assert turns(calls, AB, clock).keeps.tolist() == keeps


@pytest.mark.parametrize(
    ("queues", "total", "keeps"),
    [
        (AB, 4, [False, True]),
        (AB[:2], 2, [False, True]),
        (AB[1::-1], 2, [False, True]),
        (AB[:1], 1, [False, False]),
        ((), 0, [False, False]),
        ((*AB, AB[0]), 0, [False, False]),
        ((*AB, ("broker-a", 65_536)), 0, [False, False]),
        ((*AB, ("broker-c", 0)), 5, [False, True]),
    ],
)
def test_lists_in_which_queues_have_a_position(queues: Any, total: int, keeps: list[bool]) -> None:
    """None without queues, with one twice, or with a number that no topic has."""
    found = turns(((0, 0, 900, 900), (1_000, 1_000, 1_900, 1_900)), queues)
    assert (found.total.tolist(), found.keeps.tolist()) == ([total] * 2, keeps)
    assert (found.position >= 0).tolist() == [total > 0, total > 1]


def test_the_only_queue_of_a_list_follows_itself() -> None:
    """Each call takes it."""
    rows, brokers = three(), WordDictionary()
    columns = arm_columns(trace(SMALL, **rows), Arm.CANDIDATE, brokers)
    assert columns is not None
    found = turns_of(columns, {1: AB[:1]}, SendKind.PLAIN, brokers, SMALL.settings)
    assert found.keeps.tolist() == [False, True, True]


def test_codes_of_words() -> None:
    """A null has none; a column may have several chunks, or not one."""
    words, kind = WordDictionary(), cast(Any, pa.dictionary(pa.int32(), pa.string()))
    chunks = [pa.array(chunk, kind) for chunk in (["b", "a", None], ["c", "b"])]
    assert words.codes_of(pa.chunked_array(chunks)).tolist() == [0, 1, -1, 2, 0]
    assert words.codes_of(pa.chunked_array([], kind)).tolist() == []
    assert words.words == ["b", "a", "c"]


def test_places_of_queues_and_views_of_sends() -> None:
    """A queue without a broker, or with a number that no topic has, has no place; a send that never began no view."""
    brokers, queues = np.array([-1, 0, 0, 1, 1, 1]), np.array([3, 3, -1, 0, 65_535, 65_536])
    assert place_of(brokers, queues).tolist() == [-1, 3, -1, 1 << 16, (1 << 16) + 65_535, -1]
    for own, views in (([1, 2, 3], [0, 1, 2]), ([1, 3], [0, -1, 1]), ([2], [-1, 0, -1]), ([], [-1] * 3)):
        assert _views_of(np.array([1, 2, 3]), np.array(own, dtype=np.int64)).tolist() == views


@pytest.mark.parametrize(
    ("table", "number", "row"),
    [
        ("sends", 1, {"send": 0}),
        ("sends", 1, {"thread": -1}),
        ("sends", 0, {"thread": -1}),
        ("sends", 0, {"send": -1}),
        ("sends", 2, {"send": 1 << 40}),
        ("attempts", 0, {"send": -1}),
        ("attempts", 1, {"send": 3}),
    ],
)
def test_rows_out_of_order_have_no_columns(table: str, number: int, row: Row) -> None:
    """Sends must be numbered and sorted, and so must attempts."""
    rows = three()
    rows[table][number] |= row
    assert columns_of(rows) is None


def test_views_without_any_attempt() -> None:
    """None is simple, and none has a row."""
    columns = columns_of(three() | {"attempts": []})
    assert columns is not None
    assert (columns.attempts.tolist(), columns.first_attempt.tolist()) == ([0] * 3, [-1] * 3)
    assert columns.simple.tolist() == [False] * 3


def test_views_of_two_threads() -> None:
    """The key of a view has its thread and its send."""
    rows = three()
    for table in ("sends", "attempts"):
        rows[table][2]["thread"] = 5
    columns = columns_of(rows)
    assert columns is not None
    assert (columns.threads.tolist(), columns.sends.tolist()) == ([0, 0, 5], [0, 1, 2])


@pytest.mark.parametrize(
    ("rows", "taken"), [([0, 1], [7, 8]), ([1, 0], [8, 7]), ([0, -1], [7, -1]), ([1], [8]), ([0, 0, 1], [7, 7, 8])]
)
def test_values_of_rows(rows: list[int], taken: list[int]) -> None:
    """In the order of the rows; -1 for a missing one."""
    assert _taken(np.array([7, 8]), np.array(rows), -1).tolist() == taken


@pytest.mark.parametrize(("start_ns", "tried_ns", "waited_ms"), [(5, 5, 1), (5, 7, 3), (5, 4, 1)])
def test_the_longest_wait_that_a_clock_of_milliseconds_may_show(start_ns: int, tried_ns: int, waited_ms: int) -> None:
    """From a call at 5.9 ms to an attempt; one that a witness saw before it began at once."""
    times = SimpleNamespace(start_ns=np.array([start_ns * MS + 900_000]), tried_ns=np.array([tried_ns * MS + 950_000]))
    assert longest_wait_ms(cast(ArmColumns, times)).tolist() == [waited_ms]


@pytest.mark.parametrize(
    ("stored", "is_home"),
    [
        ({}, True),
        ({"body_ok": False}, False),
        ({"queue_id": 1}, False),
        ({"broker": "broker-b"}, False),
        ({"queue_offset": 9}, False),
        ({"send": 0}, False),
        ({"send": None}, False),
        ({"send": 3}, False),
    ],
)
def test_which_copies_are_at_home(stored: Row, is_home: bool) -> None:
    """The only copy of a planned send is undamaged and where the result says."""
    rows, brokers = three(stored=stored), WordDictionary()
    case = trace(SMALL, **rows)
    columns = arm_columns(case, Arm.CANDIDATE, brokers)
    assert columns is not None
    found = stored_columns(case.tables[TableName.STORED, Arm.CANDIDATE], columns, brokers, 3)
    assert found is not None
    assert found.at_home.tolist() == [stored.get("send", 1) != 0, is_home, True]
    foreign = stored.get("send", 1) in (None, 3)
    assert (found.rows, found.foreign, len(list(found.strays().strays()))) == (3, foreign, foreign)
    assert found.only_of(np.array([2])).rows == 1


@pytest.mark.parametrize(
    ("met", "is_near"),
    [
        (fault(2 * S, 3 * S, node="broker-a"), True),
        (fault(2 * S, 3 * S, node="broker-b"), False),
        (fault(2 * S, 3 * S, FaultKind.KILL_SLAVE, "broker-a-slave-1"), True),
        (fault(S + 10 * MS, 3 * S, node="broker-a"), True),
        (fault(S + 10 * MS + 1, 3 * S, node="broker-a"), False),
        (fault(0, S, node="broker-a"), True),
        (fault(0, S - 1, node="broker-a"), False),
        (fault(0, None, node="broker-a"), True),
    ],
)
def test_attempts_near_a_fault_of_their_broker(met: FaultRecord, is_near: bool) -> None:
    """An attempt from 1 to 1.01 s, or from 2 to 2.01 s for the faults from then on."""
    brokers = WordDictionary()
    codes = np.array([brokers.code("broker-a"), brokers.code("broker-c")])
    start = 2 * S if met.inject_ns == 2 * S else S
    times = np.array([start] * 2)
    assert near_faults([met], brokers, codes, times, times + 10 * MS).tolist() == [is_near, False]


def test_phases_of_instants() -> None:
    """Calm before the first fault, paused until it has healed, and after it; all is calm without faults."""
    faults = [fault(10, 20), fault(40, 50)]
    instants = np.array([9, 10, 19, 20, 39, 40, 50])
    assert phase_codes(faults, instants).tolist() == [0, 1, 1, 2, 2, 1, 2]
    assert phase_codes([], instants).tolist() == [0] * 7


def test_wall_times_are_those_of_the_anchor() -> None:
    """Of a clock set 30 ms ahead between two samples, and of a steady one."""
    stepped = ClockAnchor(S, 5_000, ((S, 0), (2 * S, 0), (2 * S + 100 * MS, 30 * MS), (3 * S, 30 * MS)))
    begins = np.array([S, 2 * S - 1, 2 * S, 2 * S + 50 * MS, 3 * S, 4 * S])
    ends = begins + 20 * MS
    begins, ends = np.append(S, begins), np.append(4 * S, ends)
    for clock in (stepped, replace(stepped, offsets=())):
        low, high = wall_range_ms(clock, begins, ends)
        assert list(zip(low.tolist(), high.tolist(), strict=True)) == [
            clock.range_ms(begin, end) for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
        ]


@pytest.mark.parametrize("largest", [7, 200_000])
def test_counts_and_sums_by_code(largest: int) -> None:
    """Codes are counted, and shares added up in the order of the sends, whether the codes are dense or sparse."""
    codes, at = np.array([3, largest, 3]), np.array([10, 20, 30])
    assert counted(codes) == [(3, 2), (largest, 1)]
    assert counted(codes[:0]) == []
    shares = np.array([1.0, 2.0, 4.0])
    assert added_up(codes, at, shares, []) == {3: 5.0, largest: 2.0}
    more = [(3, np.array([25, 5]), np.array([1e16, -1e16])), (5, np.array([7]), np.array([8.0]))]
    assert added_up(codes, at, shares, more) == {3: -1e16 + 1.0 + 1e16 + 4.0, 5: 8.0, largest: 2.0}
    assert added_up(codes[:0], at[:0], shares[:0], []) == {}


@pytest.mark.parametrize(("largest", "are_sparse"), [(100_012, False), (100_013, True)])
def test_codes_are_sparse_above_four_times_their_number_and_100_000(largest: int, are_sparse: bool) -> None:
    """An array of all codes would be mostly zeros."""
    assert _are_sparse(np.array([1, largest, 2])) is are_sparse


def test_durations_beside_an_edge_of_their_bucket_are_put_there_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 ns is an edge of the first one, and less is as 1 ns; a bucket is 2 % wide, and so begins at powers of 1.02."""
    edge = round(1.02**1000)
    assert buckets_of(np.array([0, 1, 2, 10**9])).tolist() == [0, 0, 35, 1046]
    monkeypatch.setattr(
        "rocketdiff.analysis.sending.columns.calm_sends.bucket_of", lambda duration_ns: -5 - duration_ns
    )
    assert buckets_of(np.array([2, 0, 1, 10**9, edge])).tolist() == [35, -5, -6, 1046, -5 - edge]


def test_calm_sends_as_checks_count_them() -> None:
    """Views 2 and 0 of an arm; without a clock no call certainly ended."""
    columns = SimpleNamespace(
        start_ns=np.array([0, S, 2 * S]), end_ns=np.array([MS, 2 * S, 3 * S]), broker=np.array([0, 1, 1])
    )
    part: Any = SimpleNamespace(
        columns=columns, lanes=None, stored=SimpleNamespace(store_ms=np.array([7, 8, 9])),
        turns=SimpleNamespace(total=np.array([4, 5, 6]), avoided=np.array([1, 2, 3]), choices=None),
        contents=SimpleNamespace(told=np.array([True, True, False])),
    )  # fmt: skip
    views, brokers = np.array([2, 0]), SimpleNamespace(words=["broker-a", "broker-b"])
    clocks = (ClockAnchor(0, 50), None)
    cases: Any = (
        SimpleNamespace(arms={Arm.BASELINE: part}, mode=mode, brokers=brokers)
        for mode in (SendMode.ONEWAY, SendMode.SYNC)
    )
    calm, unclocked = (
        CalmColumns(Arm.BASELINE, case, (), clock, views, views, views, views > 0, views > 0)
        for clock, case in zip(clocks, cases, strict=True)
    )
    assert (calm.ended_ms.tolist(), unclocked.ended_ms.tolist()) == ([3_050.0, 51.0], [np.inf] * 2)
    assert (calm.is_one_way.tolist(), unclocked.is_one_way.tolist()) == ([True] * 2, [False] * 2)
    assert (calm.ended_ns.tolist(), calm.stored_ms.tolist()) == ([3 * S, MS], [9, 7])
    assert (calm.queues.tolist(), calm.avoided.tolist()) == ([6, 4], [3, 1])
    assert (calm.called_back.tolist(), calm.follows.tolist()) == ([False] * 2, [False] * 2)
    assert calm.shows_content.tolist() == [False, True]
    assert calm.tried_at({"broker-b", "broker-c"}).tolist() == [True, False]
    part.turns.choices, part.lanes = 1, SimpleNamespace(follows=np.array([True, True, False]))
    assert (calm.called_back.tolist(), calm.follows.tolist()) == ([True] * 2, [False, True])


def test_shares_are_kept_by_the_send_at_hand() -> None:
    """Those of before the first send too; a count without a share has none."""
    collector, tally = OrderedCollector("r1", 1, 0), ("order", "baseline", "calm", "pair")
    collector.count(*tally, total=2.0)
    collector.count(*tally)
    collector.at = 5
    collector.count(*tally, n=3, total=0.5)
    assert [each.tolist() for each in collector.shares(tally)] == [[-1, 5], [2.0, 0.5]]
    assert (collector.keys_of(*tally[:3]), collector.keys_of("order", "baseline", "after")) == (["pair"], [])
    collector.add(tally, 4)
    assert dict(collector._tallies) == {tally: [9, 2.5]}
    collector.add(tally, 1, 7.0)
    assert dict(collector._tallies) == {tally: [10, 7.0]}
