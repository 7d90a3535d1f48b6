"""By when a message must have been delivered that its broker had by an instant, at each limit."""

from collections.abc import Callable
from typing import Any

import pytest

from rocketdiff.analysis.consuming.membership import Membership
from rocketdiff.analysis.consuming.promptly import Promptly, awaited
from rocketdiff.analysis.consuming.story import CaseStory, GroupStory, QueueOf, story_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.units import NS_PER_MS
from tests.analysis.consuming.group_story import LEAVE_MS, Group, Row, Story, client_id, fault_row, ns
from tests.analysis.synthetic import ORIGIN_NS

Change = Callable[[Group], object]

SEND = 51
"""Of broker-b: its call lasts from 5,102 to 5,103 ms."""

DUE_MS, LATEST_MS = 6_000, 16_000
"""A hold and a busy machine later, five seconds each."""


def read(*changes: Change, **story: Any) -> tuple[CaseStory, GroupStory]:
    made = Story(**story)
    for change in changes:
        change(made.candidate)
    case = story_of(made.trace())
    return case, case.groups[Arm.CANDIDATE]


def is_late(start_ms: float, due_ms: float, *changes: Change, **story: Any) -> bool:
    case, group = read(*changes, **story)
    delivery = group.by_send[SEND][0]._replace(start_ns=ns(start_ms))
    return Promptly(case, group).is_late(delivery, ns(due_ms))


def life(member: int = 1, **row: Any) -> Change:
    """Another member, which is there all the time."""
    times = {"join_start_ns": ns(-90_000), "join_end_ns": ns(-90_000), "leave_start_ns": None, "leave_end_ns": None}
    named = {"member": member, "client_id": client_id(member)}
    return lambda group: group.members.append(group.members[0] | named | times | row)


def stops(from_ms: float, until_ms: float | None, member: int = 0) -> Change:
    pause = {"from_ns": ns(from_ms), "until_ns": None if until_ms is None else ns(until_ms)}
    return lambda group: group.members[member].update(pauses=[pause])


def lasts(send: int, until_ms: float | None) -> Change:
    return lambda group: group.calls_of(send)[0].update(end_ns=None if until_ms is None else ns(until_ms))


def unserved(group: Group) -> None:
    """The first message of broker-b's queue comes after the leave of a member that stays longer."""
    for send in range(1, 200, 2):
        group.drop(send)
    group.deliver(SEND, 30_000)
    group.members[0] |= {"leave_start_ns": ns(90_000), "leave_end_ns": ns(90_000)}


def of_member(member: int) -> Change:
    def change(group: Group) -> None:
        for row in (*group.calls_of(SEND), *(each for each in group.deliveries if each["send"] == SEND)):
            row["member"] = member

    return change


ONE_THREAD: dict[str, Any] = {"settings": {"consume_thread_min": 1}}


def fault(from_ms: int, for_ms: int = 99, **row: Any) -> dict[str, list[Row]]:
    return {"faults": [fault_row("broker-b", from_ms, for_ms) | row]}


@pytest.mark.parametrize(
    ("start_ms", "due_ms", "changes", "story", "expected"),
    [
        pytest.param(LATEST_MS, DUE_MS, [], {}, False, id="at the limit"),
        pytest.param(LATEST_MS + 1, DUE_MS, [], {}, True, id="later"),
        pytest.param(LATEST_MS + 700, DUE_MS, [], {"settings": {"pull_interval_ms": 700}}, False, id="with an interval"),
        pytest.param(LATEST_MS + 701, DUE_MS, [], {"settings": {"pull_interval_ms": 700}}, True, id="later with it"),
        pytest.param(LATEST_MS + 1, DUE_MS, [], fault(LATEST_MS + 1), False, id="a fault when it comes"),
        pytest.param(LATEST_MS + 1, DUE_MS, [], fault(LATEST_MS + 2), True, id="a fault after that"),
        pytest.param(22_001, 12_000, [], fault(1_900), False, id="ten seconds after a fault"),
        pytest.param(22_001, 12_000, [], fault(1_899), True, id="longer after it"),
        pytest.param(LATEST_MS + 1, DUE_MS, [], fault(-9_101, healed_ns=None), False, id="a fault that does not end"),
        pytest.param(LATEST_MS + 1, DUE_MS, [stops(LATEST_MS + 1, LATEST_MS + 2)], {}, False, id="a pause when it comes"),
        pytest.param(LATEST_MS + 1, DUE_MS, [stops(LATEST_MS + 2, LATEST_MS + 2)], {}, True, id="a pause after that"),
        pytest.param(LATEST_MS + 1, DUE_MS, [stops(0, 1_000)], {}, False, id="five seconds after a pause"),
        pytest.param(LATEST_MS + 1, DUE_MS, [stops(0, 999)], {}, True, id="longer after it"),
        pytest.param(LATEST_MS + 1, DUE_MS, [stops(0, None)], {}, False, id="a pause that does not end"),
        pytest.param(LATEST_MS + 1, DUE_MS, [life(), stops(0, 1_000, 1)], {}, False, id="a pause of another"),
        pytest.param(LATEST_MS + 1, DUE_MS, [life(), of_member(1)], {}, False, id="of a member without the queue"),
        pytest.param(12_000, -1_501, [], {}, True, id="since it has the queue"),
        pytest.param(12_000, -1_502, [], {}, False, id="before it had it"),
        pytest.param(LATEST_MS + 1, DUE_MS, [life(join_start_ns=ns(DUE_MS))], {}, False, id="another joins"),
        pytest.param(LATEST_MS + 1, DUE_MS, [life(join_start_ns=ns(DUE_MS - 1))], {}, True, id="another joins before"),
        pytest.param(LATEST_MS + 1, DUE_MS, [life(leave_start_ns=ns(LATEST_MS + 1))], {}, False, id="another leaves"),
        pytest.param(LATEST_MS + 1, DUE_MS, [life(leave_start_ns=ns(LATEST_MS + 2))], {}, True, id="another leaves later"),
        pytest.param(34_500, 19_999, [unserved], {}, False, id="refused until its next heartbeat"),
        pytest.param(34_501, 19_999, [unserved], {}, True, id="and longer"),
        pytest.param(34_500, 20_000, [unserved], {}, True, id="it has got others in time"),
        pytest.param(LATEST_MS + 1, DUE_MS, [lasts(52, LATEST_MS)], ONE_THREAD, True, id="its thread is free then"),
        pytest.param(LATEST_MS + 1, DUE_MS, [lasts(52, LATEST_MS + 1)], ONE_THREAD, False, id="its thread is busy"),
        pytest.param(LATEST_MS + 1, DUE_MS, [lasts(52, None)], ONE_THREAD, False, id="its thread does not return"),
        pytest.param(
            LATEST_MS + 1, DUE_MS, [lasts(52, None)], {"settings": {"consume_thread_min": 2}}, True, id="the other one is free"
        ),
        pytest.param(
            LATEST_MS + 1, DUE_MS, [lasts(send, None) for send in range(52, 71)], {}, True, id="nineteen threads of twenty"
        ),
        pytest.param(LATEST_MS + 1, DUE_MS, [lasts(send, None) for send in range(52, 72)], {}, False, id="all twenty"),
    ],
)  # fmt: skip
def test_a_message_is_late(
    start_ms: float, due_ms: float, changes: list[Change], story: dict[str, Any], expected: bool
) -> None:
    """If nothing disturbs its queue, its member or its group meanwhile, and a thread is free."""
    assert is_late(start_ms, due_ms, *changes, **story) is expected


ALLOWED_MS = 30_000 + 1_000 + 1_500
"""The next heartbeat, a pull after a refusal, and a busy machine."""

PULLS_MS = -1_501 + 1_500 + 30_000 + 5_000
"""Since it asked for its offset: a first pull that is refused, a heartbeat and a busy machine."""


@pytest.mark.parametrize(
    ("due_ms", "changes", "story", "expected"),
    [
        pytest.param(40_000, [], {}, ALLOWED_MS, id="kept"),
        pytest.param(PULLS_MS, [], {}, ALLOWED_MS, id="since it certainly pulls"),
        pytest.param(PULLS_MS - 1, [], {}, None, id="before it certainly pulls"),
        pytest.param(40_000, [], {"settings": {"pull_interval_ms": 700}}, ALLOWED_MS + 700, id="with an interval"),
        pytest.param(40_000, [], {"stall_ms": 100}, ALLOWED_MS + 200, id="on a machine that stalls"),
        pytest.param(40_000, [], {"settings": {"heartbeat_broker_interval_ms": 1_000}}, 5_000 + 1_500, id="the broker's look"),
        pytest.param(40_000, [life(), of_member(1)], {}, None, id="of a member without the queue"),
        pytest.param(40_000, [lambda group: group.members.clear()], {}, None, id="its member's life is not known"),
        pytest.param(40_000, [lambda group: group.offset("freeze", 1_000, "broker-b", 0)], {}, None, id="its offset was corrected"),
        pytest.param(40_000, [], fault(40_000 + ALLOWED_MS), None, id="a fault at the limit"),
        pytest.param(40_000, [], fault(40_001 + ALLOWED_MS), ALLOWED_MS, id="a fault after it"),
        pytest.param(40_000, [stops(3_500, 13_501)], {}, None, id="a round after a pause"),
        pytest.param(40_000, [stops(3_500, 13_500)], {}, ALLOWED_MS, id="longer after it"),
        pytest.param(40_000, [lasts(52, None)], ONE_THREAD, None, id="its thread is busy"),
        pytest.param(40_000, [lasts(52, 40_000 + ALLOWED_MS)], ONE_THREAD, ALLOWED_MS, id="its thread is free then"),
    ],
)  # fmt: skip
def test_a_message_waits_in_a_queue_that_is_kept(
    due_ms: float, changes: list[Change], story: dict[str, Any], expected: float | None
) -> None:
    """For a heartbeat and a pull, or the broker's look, whichever is longer."""
    case, group = read(*changes, **story)
    delivery = group.by_send[SEND][0]._replace(start_ns=ns(99_000))
    kept_ns = Promptly(case, group).kept_ns(delivery, ns(due_ms), Membership(case, group))
    assert (kept_ns and kept_ns / NS_PER_MS) == expected


@pytest.mark.parametrize(
    ("at_ms", "member", "expected"),
    [(5_101, 0, 1), (5_102, 0, 2), (5_103, 0, 1), (5_102, 1, 0), (LEAVE_MS, 0, 1)],
)
def test_calls_under_way_are_counted(at_ms: float, member: int, expected: int) -> None:
    """From their beginning until they end; that of message 50 does not."""
    case, group = read(lasts(50, None))
    assert Promptly(case, group).calls_at(member, ns(at_ms)) == expected


B = QueueOf(TopicKind.FED, "broker-b", 0)


def fails(send: int, **row: Any) -> Change:
    """In order, and again a second later."""

    def change(group: Group) -> None:
        group.calls_of(send)[0].update({"result": "later"} | row)
        group.deliver(send, send * 100 + 1_000, times=1)

    return change


def of_others(send: int) -> Change:
    return lambda group: [row.update(send=None) for row in group.deliveries if row["send"] == send]


@pytest.mark.parametrize(
    ("changes", "is_orderly", "expected"),
    [
        pytest.param([], False, [0, 0, 0], id="as it is stored"),
        pytest.param([lasts(51, 5_400)], False, [0, 100, 0], id="as the one before it is finished"),
        pytest.param([lasts(51, 5_600)], False, [0, 300, 100], id="as both before it are"),
        pytest.param([lasts(51, None)], False, [0, None, None], id="not at all"),
        pytest.param([of_others(53)], False, [0, 0], id="no message of others"),
        pytest.param([fails(51)], False, [0, 801, 601], id="once for each offset"),
        pytest.param([fails(51)], True, [0, 803, 603], id="a second after its call has failed"),
        pytest.param([fails(51, suspend_ms=1_500)], True, [0, 1_303, 1_103], id="as its time is over"),
        pytest.param([fails(51, suspend_ms=1_500)], False, [0, 801, 601], id="of orderly listeners alone"),
    ],
)  # fmt: skip
def test_a_message_is_awaited(changes: list[Change], is_orderly: bool, expected: list[float | None]) -> None:
    """Since it is stored, and all before it are finished: for messages 51, 53 and 55, so long after they were fed."""

    def change(group: Group) -> None:
        for send in (*range(0, 200, 7), *range(1, 51, 2), *range(57, 200, 2)):
            group.drop(send)
        for each in changes:
            each(group)

    case, group = read(change, is_orderly=is_orderly)
    (tenure,) = group.tenures_of(B)
    found = [(each.send or 0, (due_ns - ORIGIN_NS) / NS_PER_MS) for each, due_ns in awaited(case, group, tenure)]
    after = [due_ms - send * 100 for send, due_ms in found]
    assert [None if each > 1e9 else each for each in after] == expected
