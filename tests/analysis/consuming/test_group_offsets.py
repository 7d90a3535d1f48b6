"""What a group may have committed for a queue at an instant, at the least and at the most, by what its members did."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.consuming.group_offsets import QueueOffsets, queue_offsets
from rocketdiff.analysis.consuming.story import QueueOf, story_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.tables.fault import FaultKind, Frames, RequestKind, WireHit
from rocketdiff.traces.schema import TableName
from tests.analysis.consuming.group_story import Group, Story, fault_row, ns
from tests.analysis.consuming.test_seeks import applied

A, B = "broker-a", "broker-b"
QUEUE, RETRY = QueueOf(TopicKind.FED, B, 0), QueueOf(TopicKind.RETRY, B, 0)

Change = Callable[[Group], object]


def succeeds(group: Group) -> None:
    """Of broker-b's queue the call with offset n ends at 200 n + 103 ms."""
    retried = {row["call"] for row in group.calls if row["kind"] == "retry"}
    group.calls = [row | {"result": "success"} for row in group.calls if row["call"] not in retried]
    group.deliveries = [row for row in group.deliveries if row["call"] not in retried]


def known(*changes: Change, queue: QueueOf = QUEUE, entry: dict[str, Any] | None = None, **story: Any) -> Any:
    """entry: changed columns of the group's entry, and whether the clocks were compared, and the topic read back."""
    made = Story(**story)
    for change in (succeeds, *changes):
        change(made.candidate)
    trace, changed = made.trace(), dict(entry or {})
    clock = trace.entry.clock if changed.pop("is_timed", True) else None
    is_held = changed.pop("is_held", True)
    tables = {key: table for key, table in trace.tables.items() if is_held or key[0] is not TableName.HELD}
    groups = {arm: replace(group, **changed) for arm, group in trace.entry.groups.items()}
    case = story_of(replace(trace, entry=replace(trace.entry, groups=groups, clock=clock), tables=tables))
    return queue_offsets(case, case.groups[Arm.CANDIDATE], queue)


def life(**row: Any) -> Change:
    return lambda group: group.members[0].update(row)


def lasts(offset: int, until_ms: float, **row: Any) -> Change:
    return lambda group: group.calls_of(2 * offset + 1)[0].update({"end_ns": ns(until_ms)} | row)


def does_not_end(offset: int) -> Change:
    return lambda group: group.calls_of(2 * offset + 1)[0].update(end_ns=None, result=None)


def fails(offset: int) -> Change:
    return lambda group: group.calls_of(2 * offset + 1)[0].update(result="later", delay_level=1)


def without(*offsets: int) -> Change:
    def change(group: Group) -> None:
        for offset in offsets:
            group.drop(2 * offset + 1)

    return change


def gives_up(at_ms: float) -> Change:
    return lambda group: group.own(at_ms, "a", "A", "B")


def again(group: Group) -> None:
    """The member gives the queue up, and takes it again."""
    gives_up(10_050)(group)
    group.offset("query", 15_099, B, 50)
    group.own(15_100, *"abAB")


def without_the_end(group: Group) -> None:
    """The last look at the member's queues is missing."""
    group.owned.pop()


def answered(value: int | None) -> Change:
    """The broker's answer to the first question for the queue's offset; None: it was not asked."""

    def change(group: Group) -> None:
        group.offsets = [row for row in group.offsets if row["broker"] == A or row["what"] != "query"]
        if value is not None:
            group.offset("query", -1_501, B, value)

    return change


def pauses(from_ms: float, until_ms: float | None) -> Change:
    return life(pauses=[{"from_ns": ns(from_ms), "until_ns": None if until_ms is None else ns(until_ms)}])


def killed(at_ms: float) -> Change:
    return life(killed_ns=ns(at_ms), leave_start_ns=None, leave_end_ns=None, ended="killed")


def paused(from_ms: int, node: str = B, **row: Any) -> dict[str, Any]:
    return {"faults": [fault_row(node, from_ms, 500, **row)]}


def delayed(of: RequestKind, from_ms: int = 15_000) -> dict[str, Any]:
    fault = fault_row(B, from_ms, 500, kind=FaultKind.WIRE_DELAY)
    return {"faults": [fault], "hits": {"0": WireHit(of, Frames.REQUESTS, 500)}}


def swallowed(of: RequestKind, from_ms: int = 15_000) -> dict[str, Any]:
    fault = fault_row(B, from_ms, 500, kind=FaultKind.WIRE_SWALLOW)
    return {"faults": [fault], "hits": {"0": WireHit(of, Frames.RESPONSES)}}


POLLING = {"settings": {"auto_commit_interval_ms": 1_000, "poll_timeout_ms": 500}}
FIRST = {"settings": {"consume_from_where": "first"}}
DIED = life(ended="died")


@pytest.mark.parametrize(
    ("at_ms", "changes", "story", "least", "most"),
    [
        pytest.param(20_000, [], {}, 50, 100, id="an interval, three seconds, and one each to finish and to send"),
        pytest.param(16_000, [], {}, 30, 80, id="the first one"),
        pytest.param(15_999.9, [], {}, 0, 80, id="before it"),
        pytest.param(17_500, [life(join_start_ns=None)], {}, 37, 87, id="since its first queue"),
        pytest.param(17_499.9, [life(join_start_ns=None)], {}, 0, 87, id="before that one"),
        pytest.param(17_500, [lambda group: group.members.clear()], {}, 37, 87, id="its life is not known"),
        pytest.param(17_499.9, [lambda group: group.members.clear()], {}, 0, 87, id="before its first queue had been there for so long"),
        pytest.param(40_000, [lasts(99, 29_000), lambda group: group.members.clear()], {}, 100, 100, id="it gave all up"),
        pytest.param(20_000, [], {"settings": {"persist_consumer_offset_interval_ms": 1_000}}, 70, 100, id="a shorter interval"),
        pytest.param(20_000, [], paused(15_000, A), 35, 100, id="three seconds more beside a fault of another"),
        pytest.param(20_000, [], {"faults": [fault_row(A, 15_000, 9, episode=n) for n in (0, 1)]}, 35, 100, id="two faults of one server"),
        pytest.param(22_000, [], {"faults": [fault_row(A, 15_000, 9), fault_row(B, -40_000, 9, episode=1)]}, 30, 100, id="six more beside two servers"),
        pytest.param(20_000, [], paused(15_000), 0, 100, id="its broker is down"),
        pytest.param(20_000, [], paused(-40_000), 35, 100, id="it was down long before"),
        pytest.param(20_000, [], paused(21_000), 35, 100, id="it is down later"),
        pytest.param(20_000, [], paused(21_000, is_kill=True), 0, 100, id="it is killed later, and had not flushed"),
        pytest.param(20_000, [], paused(25_001, is_kill=True), 35, 100, id="it is killed after it has flushed"),
        pytest.param(20_000, [], paused(21_000, A, is_kill=True), 35, 100, id="another is killed"),
        pytest.param(20_000, [], paused(-20_000, "name-server-1", kind=FaultKind.PAUSE_NAME_SERVER), 0, 100, id="a name server was down"),
        pytest.param(20_000, [], paused(-40_000, "name-server-1", kind=FaultKind.PAUSE_NAME_SERVER), 35, 100, id="it was long before"),
        pytest.param(20_000, [], swallowed(RequestKind.SEND_BACK), 0, 100, id="hand-backs time out, and close the connection"),
        pytest.param(20_000, [], delayed(RequestKind.OFFSETS), 0, 100, id="commits come late"),
        pytest.param(25_000, [], delayed(RequestKind.SEND_BACK), 60, 100, id="late hand-backs hide no commits"),
        pytest.param(25_000, [fails(20)], delayed(RequestKind.SEND_BACK, 5_000), 20, 100, id="it may stay beside late hand-backs"),
        pytest.param(11_000, [applied("seek", 9_000, offset=20)], {}, 0, 45, id="its application went elsewhere, which commits nothing"),
        pytest.param(20_000, [], swallowed(RequestKind.PULL), 50, 100, id="pulls are lost"),
        pytest.param(20_000, [answered(5)], {}, 50, 100, id="it began in the course"),
        pytest.param(1_000, [answered(5)], {}, 0, 5, id="and finds others' commits"),
        pytest.param(20_000, [without(*range(10))], {}, 50, 100, id="it began at the end"),
        pytest.param(20_000, [without(*range(10))], FIRST, 0, 0, id="it must have begun at the first"),
        pytest.param(20_000, [without(*range(100))], FIRST, 0, 0, id="it has got nothing"),
        pytest.param(11_000, [killed(12_000)], {}, 0, 65, id="a second before it was killed it may have had all"),
        pytest.param(10_999.9, [killed(12_000)], {}, 0, 55, id="before that it reports"),
        pytest.param(20_000, [killed(12_000)], {}, 0, 65, id="it commits nothing as it is killed"),
        pytest.param(40_000, [without_the_end, lambda group: group.members.clear()], {}, 100, 100, id="neither its life nor its end is known"),
        pytest.param(12_000, [killed(12_000), without(*range(100))], FIRST | {"held": []}, 0, 0, id="nothing was stored before it was killed"),
        pytest.param(25_000, [again, does_not_end(30)], {}, 50, 50, id="it took the queue again, beside a call that does not end"),
        pytest.param(20_000, [applied("seek", 9_000, offset=60)], {}, 45, 100, id="its application went on, and what it had before may be committed"),
        pytest.param(29_200, [applied("seek", 9_000, offset=60)], {}, 45, 100, id="for twenty seconds"),
        pytest.param(20_000, [applied("seek", 9_000, offset=20), applied("seek", 9_050, offset=60)], {}, 20, 100, id="it went back, and on"),
        pytest.param(34_000, [applied("seek", 9_000, offset=60)], {}, 100, 100, id="until the commit after its first message from there"),
        pytest.param(34_000, [applied("seek", 9_000, offset=60), without(*range(45, 100))], {}, 45, 60, id="for ever, without a message from there"),
        pytest.param(20_000, [answered(0), without(*range(10))], {}, 0, 0, id="it was told the first"),
        pytest.param(11_000, [killed(11_900)], {}, 0, 65, id="what was stored a second after it was killed"),
        pytest.param(11_000, [killed(11_899.999)], {}, 0, 64, id="not what was stored later"),
        pytest.param(11_000, [killed(12_000), gives_up(9_000)], {}, 35, 45, id="killed after it gave the queue up"),
        pytest.param(11_000, [killed(12_000)], {"entry": {"is_timed": False}}, 0, 100, id="it is not known when messages were stored"),
        pytest.param(11_000, [killed(12_000)], {"entry": {"is_held": False}}, 0, 55, id="nor what was stored"),
        pytest.param(20_000, [pauses(4_000, 5_000), does_not_end(99)], {}, 50, 99, id="a call that does not end after a pause"),
        pytest.param(20_000, [pauses(8_000, 9_000)], {}, 0, 100, id="its process was paused"),
        pytest.param(20_000, [pauses(4_000, 5_000)], {}, 50, 100, id="long before"),
        pytest.param(20_000, [pauses(-20_000, 5_990)], {}, 0, 100, id="for so long that calls may not be noted"),
        pytest.param(24_100, [pauses(4_000, 10_000)], {}, 40, 100, id="for so long that calls may be noted late"),
        pytest.param(20_000, [pauses(4_000, None)], {}, 0, 100, id="its pause does not end"),
        pytest.param(20_000, [], POLLING | {"entry": {"polls": True}}, 42, 100, id="with the poll after the interval"),
        pytest.param(20_000, [], POLLING | {"entry": {"polls": True, "commits_itself": True}}, 50, 100, id="its application commits"),
        pytest.param(25_000, [], {"entry": {"polls": True}}, 25, 100, id="polls as they are set"),
        pytest.param(20_000, [fails(20)], {"is_orderly": True}, 20, 20, id="one holds the queue up"),
        pytest.param(20_000, [fails(20)], {}, 20, 100, id="one is being handed back"),
        pytest.param(22_000, [fails(20)], {}, 60, 100, id="it is handed back"),
        pytest.param(25_000, [fails(20)], paused(-9_000, A), 60, 100, id="it is handed back after a fault"),
        pytest.param(25_000, [fails(20)], paused(5_000, A), 20, 100, id="it may stay beside a fault"),
        pytest.param(40_000, [lasts(99, 29_000)], {}, 100, 100, id="it has left"),
        pytest.param(40_000, [lasts(99, 29_000), DIED], {}, 99, 100, id="it died as it left"),
        pytest.param(20_000, [gives_up(10_050)], {}, 40, 50, id="it gave the queue up"),
        pytest.param(20_000, [gives_up(10_050), without(*range(49, 100)), life(ended="died", leave_start_ns=None)], {}, 40, 49, id="and died at an unknown instant"),
        pytest.param(20_000, [gives_up(10_050), DIED], {}, 40, 50, id="it gave the queue up, and died"),
        pytest.param(40_000, [without_the_end, life(ended="died", leave_start_ns=None)], {}, 55, 100, id="it died at an unknown instant"),
        pytest.param(40_000, [lasts(99, 29_000), without_the_end], {}, 100, 100, id="its leave is its end"),
        pytest.param(40_000, [lasts(99, 29_000), life(leave_start_ns=None, ended="running")], {}, 100, 100, id="it gave all up, and runs"),
    ],
)  # fmt: skip
def test_bounds_of_what_may_be_committed(
    at_ms: float, changes: list[Change], story: dict[str, Any], least: int, most: int
) -> None:
    """At an instant; offset n of the queue is finished a second after 200 n + 103 ms."""
    found = known(*changes, **story).bounds_at([ns(at_ms)])[ns(at_ms)]
    assert (found.least, found.most) == (least, most)


@pytest.mark.parametrize(
    ("changes", "story", "is_known"),
    [
        pytest.param([], {}, True, id="known"),
        pytest.param([answered(None)], {}, False, id="it was not asked for"),
        pytest.param([without(*range(100))], {}, False, id="nothing was delivered since its end"),
        pytest.param([lambda group: group.offset("freeze", 1_000, B, 0)], {}, False, id="it was corrected"),
        pytest.param([again, lambda group: group.offset("freeze", 1_000, B, 0)], {}, False, id="it was corrected once"),
        pytest.param([lambda group: group.owned.clear()], {}, False, id="no member has it"),
        pytest.param([], {"queue": RETRY}, True, id="a retry queue begins at the first"),
    ],
)
def test_a_queue_is_known(changes: list[Change], story: dict[str, Any], is_known: bool) -> None:
    """If each of its tenures has a certain beginning."""
    assert (known(*changes, **story) is not None) is is_known


def test_a_killed_member_may_have_finished_every_copy() -> None:
    """When they came due is not known."""
    found = known(killed(12_000), queue=RETRY).bounds_at([ns(12_000)])[ns(12_000)]
    assert found.most == 1 << 60


def test_the_last_tenure_of_a_member() -> None:
    """That had begun, whether it is over or not."""
    found: QueueOffsets = known(again)
    begun = [found.of_member(0, ns(at_ms)) for at_ms in (-1_501.1, -1_501, 15_098, 15_099)]
    assert [each and each[0].first for each in begun] == [None, -1, -1, 50]
    assert found.of_member(1, ns(20_000)) is None
    assert [tenure.first for tenure, _ in found.tenures] == [-1, 50]
