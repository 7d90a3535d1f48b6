"""Until when a message may wait at the end of its queue, at each limit."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.consuming.story import CaseStory, Held, story_of
from rocketdiff.analysis.consuming.waiting import Waiting
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.tables.fault import FaultKind, Frames, RequestKind, WireHit
from rocketdiff.core.units import NS_PER_S
from tests.analysis.consuming.group_story import BROKERS, Group, Story, fault_row, ns
from tests.analysis.synthetic import MS

Change = Callable[[Group], None]

STORED_MS = 10_100
"""Message 101, offset 50 of broker-b's queue."""

AFTER_MS = 10_000
"""A broker's look, and what a busy machine may add."""


def case_of(change: Change, leave_ms: float, **story: Any) -> CaseStory:
    """The member gets nothing of broker-b after 7 s, and leaves at an instant."""
    made = Story(**story)
    group = made.candidate
    for send in range(71, 200, 2):
        group.drop(send)
    group.members[0] |= {"leave_start_ns": ns(leave_ms), "leave_end_ns": ns(leave_ms + 20)}
    group.owned = [row for row in group.owned if row["queues"]]
    change(group)
    group.own(leave_ms + 10)
    return story_of(made.trace())


def waited_ms(case: CaseStory, offset: int = 50) -> float | None:
    (held,) = [
        each
        for queue, own in (case.held or {}).items()
        for each in own
        if (queue.broker, each.queue_offset) == (BROKERS[1], offset)
    ]
    waited_ns = Waiting(case, case.groups[Arm.CANDIDATE]).too_long_ns(held)
    return None if waited_ns is None else waited_ns / MS


def nothing(_group: Group) -> None:
    """Leave everything as it is."""


def gets_the_last_one(group: Group) -> None:
    group.deliver(199, 19_902)


def gives_it_up_as_it_leaves(group: Group) -> None:
    group.own((group.members[0]["leave_start_ns"] - ns(0)) / MS)


def takes_it_again(at_ms: float) -> Change:
    def change(group: Group) -> None:
        group.own(8_000, "a", "A", "B")
        group.own(at_ms, "a", "b", "A", "B")

    return change


def gives_it_up(at_ms: float, **other: Any) -> Change:
    """And another member, which is there to the end, does not take it."""

    def change(group: Group) -> None:
        life = {"member": 1, "client_id": "m1", "join_start_ns": ns(-2_500), "join_end_ns": ns(-2_400)}
        group.members.append(group.members[0] | life | other)
        group.own(at_ms, "a", "A", "B")

    return change


def gives_it_up_beside_one_that_stays(group: Group) -> None:
    gives_it_up(9_000, leave_start_ns=None, leave_end_ns=None)(group)
    group.members.reverse()


def gives_it_up_twice(group: Group) -> None:
    group.own(8_000, "a", "A", "B")
    group.own(8_500, "a", "b", "A", "B")
    gives_it_up(12_000)(group)


def pauses(until_ms: float | None, member: int = 0) -> Change:
    def change(group: Group) -> None:
        until_ns = None if until_ms is None else ns(until_ms)
        if member:
            group.members.append(group.members[0] | {"member": member, "client_id": "m1"})
        group.members[member]["pauses"] = [{"from_ns": ns(9_000), "until_ns": until_ns}]

    return change


def dies(**life: Any) -> Change:
    return lambda group: group.members[0].update(life)


def fails_last(suspend_ms: int | None, end_ms: float | None = 15_000) -> Change:
    def change(group: Group) -> None:
        end_ns = None if end_ms is None else ns(end_ms)
        group.deliver(71, 7_102, end_ns=end_ns, result=None if end_ns is None else "later")
        group.calls[-1]["suspend_ms"] = suspend_ms

    return change


def does_not_return(group: Group) -> None:
    group.calls_of(67)[0] |= {"end_ns": None, "result": None}


def lasts_while_it_is_taken(group: Group) -> None:
    group.calls_of(69)[0]["end_ns"] = ns(16_000)
    takes_it_again(12_000)(group)


def is_taken_as_it_leaves(group: Group) -> None:
    gives_it_up(9_000)(group)
    group.own((group.members[0]["leave_start_ns"] - ns(0)) / MS, "a", "b", "A", "B")


def fails_last_of_two(group: Group) -> None:
    group.calls_of(69)[0] |= {"end_ns": None, "result": None}
    fails_last(50)(group)


def never_takes_it(group: Group) -> None:
    for row in group.owned:
        row["queues"] = [queue for queue in row["queues"] if (queue["kind"], queue["broker"]) != ("fed", BROKERS[1])]


def leaves_early(group: Group) -> None:
    group.members[0] |= {"leave_start_ns": ns(9_000), "leave_end_ns": ns(9_020)}
    group.own(9_010)


KILLED = [fault_row("broker-b", 9_000, 2_000, is_kill=True)]
PAUSED = [fault_row("broker-b", 9_000, 2_000)]
PAUSED_LONGER = [fault_row("broker-b", 8_000, 3_000)]
OF_ANOTHER = [fault_row("broker-a", 9_000, 2_000)]

ROWS = {
    "from when it was stored": (nothing, {}, STORED_MS),
    "to the instant of the leave": (gives_it_up_as_it_leaves, {}, STORED_MS),
    "from the last call of its queue": (gets_the_last_one, {}, 19_903),
    "from the first pull of the queue": (takes_it_again(12_000), {}, 12_000 + 1_500),
    "from a resume of its broker": (nothing, {"faults": PAUSED}, 11_001),
    "from a restart of its broker": (nothing, {"faults": KILLED}, 11_001 + 2_000),
    "not from that of another": (nothing, {"faults": OF_ANOTHER}, STORED_MS),
    "from a pause of its member": (pauses(12_000), {}, 12_000 + 2_000),
    "not from that of another member": (pauses(12_000, member=1), {}, STORED_MS),
    "in order, from the last call": (fails_last(50), {"is_orderly": True}, 15_000 + 50),
    "in order, from the last call alone": (fails_last_of_two, {"is_orderly": True}, 15_000 + 50),
    "in order, from a call before it took the queue again": (lasts_while_it_is_taken, {"is_orderly": True}, 16_000),
    "in order, with the default": (fails_last(None), {"is_orderly": True}, 15_000 + 1_000),
    "without an owner": (gives_it_up(12_000), {}, 12_000 + 1_500 + 1_500),
    "without an owner, until the group leaves": (is_taken_as_it_leaves, {}, 9_000 + 1_500 + 1_500),
    "without an owner, beside one that stays": (gives_it_up_beside_one_that_stays, {}, 9_000 + 1_500 + 1_500),
    "without an owner, since another has left": (
        gives_it_up(9_000, leave_start_ns=ns(12_000), leave_end_ns=ns(12_020)),
        {},
        12_000 + 1_500 + 1_500,
    ),
    "without an owner since the last one": (gives_it_up_twice, {}, 12_000 + 1_500 + 1_500),
    "without an owner, in order": (gives_it_up(12_000), {"is_orderly": True}, 12_000 + 1_500 + 1_500 + 1_500),
    "without an owner, since a change": (gives_it_up(9_000, join_start_ns=ns(12_000)), {}, 12_000 + 1_500 + 1_500),
    "without an owner, beside a fault": (gives_it_up(9_000), {"faults": PAUSED}, 11_001 + 34_500 + 1_500),
    "without an owner, beside a fault, in order": (
        gives_it_up(9_000),
        {"faults": PAUSED, "is_orderly": True},
        11_001 + 34_500 + 1_500 + 1_500,
    ),
    "without an owner, in order, as another was killed": (
        gives_it_up(9_000, killed_ns=ns(12_000), ended="killed", leave_start_ns=None, leave_end_ns=None),
        {"is_orderly": True},
        12_000 + 1_500 + 61_000 + 1_500,
    ),
    "without an owner, beside a longer fault": (
        gives_it_up(9_000),
        {"faults": PAUSED_LONGER},
        11_001 + 150_000 + 1_500,
    ),
    "without an owner, beside a name server that was down": (
        gives_it_up(9_000),
        {"faults": [fault_row("name-server-1", 9_000, 2_000, kind=FaultKind.PAUSE_NAME_SERVER)]},
        11_001 + 80_000 + 1_500,
    ),
    "without an owner, beside a restart": (gives_it_up(9_000), {"faults": KILLED}, 11_001 + 50_000 + 1_500),
    "without an owner, after a pause": (
        gives_it_up(9_000, pauses=[{"from_ns": ns(8_000), "until_ns": ns(12_000)}]),
        {},
        12_000 + 21_500 + 1_500,
    ),
}


@pytest.mark.parametrize(("change", "story", "from_ms"), ROWS.values(), ids=ROWS.keys())
def test_a_message_waits(change: Change, story: dict[str, Any], from_ms: float) -> None:
    """Ten seconds from an instant, and no longer."""
    latest_ms = from_ms + AFTER_MS
    story = story | {"duration_ms": 14_000}
    assert waited_ms(case_of(change, latest_ms, **story)) is None
    assert waited_ms(case_of(change, latest_ms + 0.001, **story)) == pytest.approx(latest_ms - STORED_MS, abs=0.01)


NOT_LEFT = {"leave_start_ns": None, "leave_end_ns": None}


@pytest.mark.parametrize(
    ("change", "story"),
    [
        pytest.param(nothing, {"faults": [PAUSED[0] | {"healed_ns": None}]}, id="a fault that does not end"),
        pytest.param(pauses(None), {}, id="a pause that does not end"),
        pytest.param(pauses(None, member=1), {}, id="a pause of another member that does not end"),
        pytest.param(dies(ended="died", **NOT_LEFT), {}, id="a member that ended at an unknown instant"),
        pytest.param(dies(ended="killed", **NOT_LEFT), {}, id="a member that was killed at an unknown instant"),
        pytest.param(gives_it_up(9_000, ended="died", **NOT_LEFT), {}, id="another that ended at an unknown instant"),
        pytest.param(never_takes_it, {}, id="no member has had the queue"),
        pytest.param(fails_last(50, None), {"is_orderly": True}, id="a call that does not end"),
        pytest.param(does_not_return, {}, id="an earlier call that does not end"),
        pytest.param(leaves_early, {}, id="the only member leaves"),
    ],
)
def test_a_message_that_may_wait_for_ever(change: Change, story: dict[str, Any]) -> None:
    """What the rules do not bound, or where there is no member to deliver it."""
    assert waited_ms(case_of(change, 60_000, **story, duration_ms=14_000)) is None


def test_without_compared_clocks_it_is_open() -> None:
    """When a message was stored is unknown."""
    case = case_of(nothing, 60_000)
    entry = replace(case.trace.entry, clock=None)
    assert waited_ms(replace(case, trace=replace(case.trace, entry=entry))) is None


@pytest.mark.parametrize(
    ("killed_ms", "first", "next_firsts", "is_open"),
    [
        pytest.param(STORED_MS - 1_000, 0, [60], True, id="stored before its death was seen"),
        pytest.param(STORED_MS - 1_001, 0, [60], False, id="stored later"),
        pytest.param(12_000, 50, [60], True, id="it began at it"),
        pytest.param(12_000, 51, [60], False, id="it began above it"),
        pytest.param(12_000, None, [60], True, id="it is not known where it began"),
        pytest.param(12_000, 0, [None], True, id="it is not known where the next one began"),
        pytest.param(12_000, 0, [50], False, id="the next one began at it"),
        pytest.param(12_000, 0, [51], True, id="the next one began above it"),
        pytest.param(12_000, 0, [50, 60], False, id="the next one began at it, and then above it"),
    ],
)
def test_a_member_that_was_killed_may_have_had_it(
    killed_ms: float, first: int | None, next_firsts: list[int | None], is_open: bool
) -> None:
    """Its last records died with it, unless another member began at the message or below."""

    def change(group: Group) -> None:
        life = {"member": 1, "client_id": "m1"}
        group.members.append(group.members[0] | life)
        group.members[0] |= {"killed_ns": ns(killed_ms), "ended": "killed"} | NOT_LEFT
        group.offsets = [row | {"value": first} for row in group.offsets if row["what"] == "query"]
        for number, next_first in enumerate(next_firsts):
            group.offset("query", killed_ms + 2_000 + 100 * number, BROKERS[1], next_first, member=1)
        group.own(killed_ms + 2_001, "b", member=1)
        group.own(60_010, member=1)

    assert (waited_ms(case_of(change, 60_000)) is None) is is_open


def test_a_copy_waits_in_its_own_queue() -> None:
    """A retry queue has its own owner and calls."""
    case = case_of(lambda group: group.own(9_000, "a", "A", "b"), 60_000)
    group = case.groups[Arm.CANDIDATE]
    (queue,) = {each.queue for each in group.tenures if (each.queue.kind, each.queue.broker) == (TopicKind.RETRY, BROKERS[1])}  # fmt: skip
    (other,) = {each.queue for each in group.tenures if (each.queue.kind, each.queue.broker) == (TopicKind.RETRY, BROKERS[0])}  # fmt: skip
    waiting = Waiting(case, group)
    stored_ms = case.trace.entry.clock.wall_ms + 30_000  # type: ignore[union-attr]  # a story has one
    late = [
        waiting.too_long_ns(Held(of, 90, 101, stored_ms, body_ok=True, properties=None, born_host=""))
        for of in (queue, other)
    ]
    assert late == [30_000 * MS, 30_000 * MS]


def life_to_the_end(group: Group) -> None:
    times = {"join_start_ns": ns(-90_000), "join_end_ns": ns(-90_000), "leave_start_ns": None, "leave_end_ns": None}
    group.members[0] |= times


def joins(at_ms: float) -> Change:
    life = {"member": 1, "client_id": "m1", "join_start_ns": ns(at_ms), "join_end_ns": ns(at_ms)}
    return lambda group: group.members.append(group.members[0] | life)


def takes(broker: str, given_up_ms: float = 7_000, at_ms: float = 9_500) -> Change:
    """Its queue of a broker is taken, while the fault lasts unless given."""

    def change(group: Group) -> None:
        group.own(given_up_ms, *("bAB" if broker == "a" else "aAB"))
        group.own(at_ms, *"abAB")

    return change


def wire(kind: FaultKind, of: RequestKind, delay_ms: float = 0.0) -> dict[str, Any]:
    row = fault_row("broker-b", 8_000, 2_000, kind=kind)
    return {"faults": [row], "hits": {"0": WireHit(of, Frames.REQUESTS, delay_ms)}}


def server(**other: Any) -> dict[str, Any]:
    return {"faults": [fault_row("broker-b", 8_000, 2_000, **other)]}


TAKEN_S = 34.5 + 1.5 + 5
"""A round beside a broker that was down, a first pull, and the broker's look."""


@pytest.mark.parametrize(
    ("change", "story", "after_s"),
    [
        pytest.param(nothing, server(), 5, id="a pause"),
        pytest.param(nothing, server(is_kill=True), 2 + 5, id="a kill"),
        pytest.param(takes("b"), server(), TAKEN_S, id="a queue is taken meanwhile"),
        pytest.param(takes("a"), server(), 5, id="a queue of another broker"),
        pytest.param(takes("b", 3_000, 4_000), server(), 5, id="a queue was taken before"),
        pytest.param(joins(4_999), server(), 5, id="a member joined before"),
        pytest.param(joins(5_000), server(), TAKEN_S, id="it may just have taken a queue"),
        pytest.param(joins(15_001), server(), TAKEN_S, id="a member joins in time"),
        pytest.param(joins(15_002), server(), 5, id="it joins later"),
        pytest.param(nothing, wire(FaultKind.WIRE_SWALLOW, RequestKind.PULL), 31 + 1 + 5, id="lost pulls"),
        pytest.param(nothing, wire(FaultKind.WIRE_DELAY, RequestKind.PULL, 500), 0.5 + 5, id="late pulls"),
        pytest.param(joins(8_000), wire(FaultKind.WIRE_DELAY, RequestKind.PULL, 500), 0.5 + TAKEN_S, id="a member joins beside them"),
        pytest.param(nothing, wire(FaultKind.WIRE_RESET, RequestKind.PULL), 2 + 5, id="closed connections"),
        pytest.param(joins(-90_000), wire(FaultKind.WIRE_RESET, RequestKind.PULL), 2 + TAKEN_S, id="closed connections of two"),
        pytest.param(nothing, wire(FaultKind.WIRE_SWALLOW, RequestKind.HEARTBEAT), 3 + 2 + 5, id="lost heartbeats"),
        pytest.param(joins(-90_000), wire(FaultKind.WIRE_SWALLOW, RequestKind.HEARTBEAT), 3 + 2 + TAKEN_S, id="lost ones of two"),
        pytest.param(nothing, wire(FaultKind.WIRE_SWALLOW, RequestKind.LOCK), 1 + 2 + 21 + 5, id="lost locks"),
    ],
)  # fmt: skip
def test_the_work_goes_on_after_a_fault(change: Change, story: dict[str, Any], after_s: float) -> None:
    """From its heal, for a member that kept its queue, or for one that takes it; locks are asked for as if in order."""
    made = Story(**story)
    life_to_the_end(made.candidate)
    change(made.candidate)
    case = story_of(made.trace())
    assert Waiting(case, case.groups[Arm.CANDIDATE]).after(case.trace.faults[0]) == after_s * NS_PER_S


@pytest.mark.parametrize(
    ("story", "until_ms"),
    [
        pytest.param(
            wire(FaultKind.WIRE_SWALLOW, RequestKind.HEARTBEAT), 10_001 + 3_000 + 2_000, id="its member's heartbeats"
        ),
        pytest.param(wire(FaultKind.WIRE_DELAY, RequestKind.PULL, 900), 10_001 + 900, id="its member's pulls"),
    ],
)
def test_a_message_waits_beside_a_fault_on_the_wire(story: dict[str, Any], until_ms: float) -> None:
    """And ten seconds more."""
    latest_ms = until_ms + AFTER_MS
    assert waited_ms(case_of(nothing, latest_ms, **story, duration_ms=14_000)) is None
    assert waited_ms(case_of(nothing, latest_ms + 0.001, **story, duration_ms=14_000)) is not None


def test_a_message_without_an_owner_waits_beside_a_fault_on_the_wire() -> None:
    """A lost heartbeat, a closed connection, a round and a first pull."""
    story = wire(FaultKind.WIRE_SWALLOW, RequestKind.HEARTBEAT) | {"duration_ms": 14_000}
    latest_ms = 10_001 + 3_000 + 2_000 + 34_500 + 1_500 + AFTER_MS
    assert waited_ms(case_of(gives_it_up(9_000), latest_ms, **story)) is None
    assert waited_ms(case_of(gives_it_up(9_000), latest_ms + 0.001, **story)) is not None
