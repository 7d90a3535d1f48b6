"""Until when changes and faults leave open who is in a group and who owns its queues, at each limit."""

from collections.abc import Callable
from math import inf
from typing import Any

import pytest

from rocketdiff.analysis.consuming.membership import Membership, Span, Views, lists_in_force, merged, outside
from rocketdiff.analysis.consuming.story import GroupStory, Listing, story_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind, FaultRecord, Frames, RequestKind, WireHit
from tests.analysis.consuming.group_story import Group, Row, Story, fault_row, ns
from tests.analysis.synthetic import MS

Change = Callable[[Group], None]


def membership(change: Change, **story: Any) -> tuple[Membership, GroupStory, tuple[FaultRecord, ...]]:
    """The only member joins from -3 s to -2.9 s and stays, unless it is changed; no listener fails."""
    made = Story(**story)
    group = made.candidate
    group.members[0] |= {"leave_start_ns": None, "leave_end_ns": None}
    for call in group.calls:
        call["result"] = "success"
    change(group)
    case = story_of(made.trace())
    found = case.groups[Arm.CANDIDATE]
    return Membership(case, found), found, case.trace.faults


def in_ms(spans: Any) -> list[Span]:
    return [tuple(at_ns if at_ns in (inf, -inf) else (at_ns - ns(0)) / MS for at_ns in span) for span in spans]


def nothing(_group: Group) -> None:
    """Leave everything as it is."""


def life(**changed: Any) -> Change:
    return lambda group: group.members[0].update(changed)


def pauses(from_ms: float, until_ms: float | None) -> Change:
    until_ns = None if until_ms is None else ns(until_ms)
    return life(pauses=[{"from_ns": ns(from_ms), "until_ns": until_ns}])


def leaves(at_ms: float = 8_000, **changed: Any) -> Change:
    return life(**({"leave_start_ns": ns(at_ms), "leave_end_ns": ns(at_ms + 20)} | changed))


def is_killed(at_ms: float) -> Change:
    return life(killed_ns=ns(at_ms), ended="killed")


def second(*listed_ms: float, **changed: Any) -> Change:
    """Another member is there from 8 s to 15 s; brokers list it from one instant to another."""

    def change(group: Group) -> None:
        times = {"join_start_ns": 8_000, "join_end_ns": 8_100, "leave_start_ns": 15_000, "leave_end_ns": 15_100}
        own = {name: ns(at_ms) for name, at_ms in times.items()}
        group.members.append(group.members[0] | {"member": 1, "client_id": "m1"} | own | changed)
        for at_ms, ids in zip(listed_ms, ((0, 1), (0,)), strict=False):
            for broker in ("broker-a", "broker-b"):
                group.list_members(at_ms, broker, *ids)

    return change


def both(*changes: Change) -> Change:
    def change(group: Group) -> None:
        for each in changes:
            each(group)

    return change


def is_listed(at_ms: float, *members: int) -> Change:
    return lambda group: group.list_members(at_ms, "broker-a", *members)


def lists_another(from_ms: float, until_ms: float) -> Change:
    def change(group: Group) -> None:
        group.list_members(from_ms, "broker-a", 0, 1)
        group.list_members(until_ms, "broker-a", 0)

    return change


ROUNDS_OF_3_S: dict[str, int | str] = {"rebalance_wait_interval_ms": 3_000}


def fails(end_ms: float) -> Change:
    def change(group: Group) -> None:
        group.calls[0] |= {"result": "later", "end_ns": ns(end_ms)}

    return change


def fault(from_ms: int = 8_000, for_ms: int = 2_000, **other: Any) -> dict[str, Any]:
    return {"faults": [fault_row("broker-b", from_ms, for_ms, **other)]}


def swallows(of: RequestKind, **other: Any) -> dict[str, Any]:
    hits = {"0": WireHit(of, Frames.REQUESTS)}
    return {**fault(kind=FaultKind.WIRE_SWALLOW, **other), "hits": hits}


JOINED = (-3_000, 199)
"""A broker that was first asked at -2,801 ms may have listed nobody before, and a busy machine takes 3 s from then."""

UNSETTLED = {
    "a join": (nothing, {}, [JOINED]),
    "on a machine that stalls": (nothing, {"stall_ms": 200}, [(-3_000, 599)]),
    "on one that stalls for long": (nothing, {"stall_ms": 9_000}, [(-3_000, 3_699)]),
    "with locks": (nothing, {"is_orderly": True}, [(-3_000, 5_199)]),
    "a leave": (leaves(40_000), {}, [JOINED, (40_000, 44_020)]),
    "a leave long before a pause": (
        leaves(40_000),
        fault(from_ms=60_000),
        [JOINED, (40_000, 44_020), (60_000, 62_001 + 35_000 + 3_000)],
    ),
    "a leave without an end": (leaves(40_000, leave_end_ns=None), {}, [JOINED, (40_000, 44_000)]),
    "a kill": (is_killed(40_000), {}, [JOINED, (40_000, 44_000)]),
    "a kill with locks": (is_killed(40_000), {"is_orderly": True}, [(-3_000, 5_199), (40_000, 108_500)]),
    "a kill of one of two with locks": (
        both(second(8_200, 15_200), is_killed(50_000)),
        {"is_orderly": True},
        [(-3_000, 23_200), (50_000, 118_500)],
    ),
    "a leave beside a join": (leaves(), {}, [JOINED, (8_000, 32_100 + 3_000)]),
    "a start without an end": (life(join_end_ns=None), {}, [JOINED]),
    "a member that comes and goes": (second(8_200, 15_200), {}, [(-3_000, 18_200)]),
    "without lists of it": (second(), {}, [JOINED, (8_000, 18_100)]),
    "a list of another": (lists_another(5_000, 9_000), {}, [(-3_000, 12_000)]),
    "a list of another for longer than a heartbeat": (lists_another(5_000, 40_000), {}, [(-3_000, 32_100 + 3_000)]),
    "a list of another beside a long pause": (
        lists_another(50_000, 170_000),
        fault(for_ms=20_000),
        [(-3_000, 28_001 + 135_000 + 21_500 + 5_000)],
    ),
    "a list of another beside a long kill": (
        lists_another(50_000, 170_000),
        fault(for_ms=20_000, is_kill=True),
        [(-3_000, 28_001 + 35_000 + 21_500 + 5_000)],
    ),
    "a short pause of a broker": (nothing, fault(), [JOINED, (8_000, 10_001 + 1_500 + 5_000)]),
    "a pause of a broker": (nothing, fault(for_ms=3_000), [JOINED, (8_000, 11_001 + 34_500 + 5_000)]),
    "with locks beside it": (
        nothing,
        {**fault(for_ms=3_000), "is_orderly": True},
        [(-3_000, 5_199), (8_000, 11_001 + 34_500 + 1_500 + 5_000)],
    ),
    "a kill of a broker": (nothing, fault(is_kill=True), [JOINED, (8_000, 10_001 + 50_000 + 5_000)]),
    "a pause of a name server": (
        nothing,
        {"faults": [fault_row("name-server-1", 8_000, 2_000, kind=FaultKind.PAUSE_NAME_SERVER)]},
        [JOINED, (8_000, 10_001 + 80_000 + 5_000)],
    ),
    "a fault that does not end": (
        nothing,
        {"faults": [fault_row("broker-b", 8_000, 9) | {"healed_ns": None}]},
        [JOINED, (8_000, inf)],
    ),
    "a leave beside a pause": (leaves(), fault(), [JOINED, (8_000, 10_001 + 130_000 + 5_000 + 1_500 + 1_500)]),
    "lost heartbeats": (nothing, swallows(RequestKind.HEARTBEAT), [JOINED, (8_000, 13_001 + 2_000 + 34_500 + 5_000)]),
    "lost pulls": (nothing, swallows(RequestKind.PULL), [JOINED]),
    "a pause of a process": (pauses(9_000, 12_000), {}, [JOINED, (12_000, 18_000)]),
    "a long pause of a process": (pauses(-75_000, 12_000), {}, [JOINED, (12_000, 15_000 + 21_500 + 5_000)]),
    "a shorter one": (pauses(-74_999, 12_000), {}, [JOINED, (12_000, 18_000)]),
    "a list of another after it": (both(pauses(41_000, 42_000), lists_another(50_000, 70_000)), {}, [(-3_000, 35_100), (42_000, 73_000)]),
    "a pause of a process that does not end": (pauses(9_000, None), {}, [JOINED]),
    "a leave long after it": (
        life(pauses=[{"from_ns": ns(-75_000), "until_ns": ns(-60_000)}], leave_start_ns=ns(40_000), leave_end_ns=ns(40_020)),
        {},
        [(-60_000, -54_000), JOINED, (40_000, 44_020)],
    ),
    "a leave in it": (
        life(pauses=[{"from_ns": ns(9_000), "until_ns": None}], leave_start_ns=ns(40_000)),
        {},
        [JOINED, (40_000, 44_000), (99_000, inf)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "story", "expected"), UNSETTLED.values(), ids=UNSETTLED.keys())
def test_owners_are_open(change: Change, story: dict[str, Any], expected: list[Span]) -> None:
    """From a change, a fault or a list to the longest time that the rules allow, in ms."""
    assert in_ms(membership(change, **story)[0].unsettled) == expected


@pytest.mark.parametrize(
    ("last_ms", "after_ms", "ids", "is_asleep"),
    [
        pytest.param(8_050, 28_050, (0,), True, id="a round without the change"),
        pytest.param(8_050, 28_050, (0, 1), False, id="a round with it"),
        pytest.param(8_000, 28_000, (0,), True, id="at once"),
        pytest.param(8_000, 28_000, (0, 1), False, id="at once, with it"),
        pytest.param(9_100, 29_100, (0,), True, id="a second after it"),
        pytest.param(9_101, 29_101, (0,), False, id="later"),
        pytest.param(7_999, 27_999, (0,), False, id="before it"),
        pytest.param(8_050, 27_050, (0,), True, id="a second early"),
        pytest.param(8_050, 27_049, (0,), False, id="sooner"),
        pytest.param(8_050, 33_050, (0,), True, id="five seconds late"),
        pytest.param(8_050, 33_051, (0,), False, id="longer"),
    ],
)
def test_a_member_sleeps_through_a_change(
    last_ms: float, after_ms: float, ids: tuple[int, ...], is_asleep: bool
) -> None:
    """Another one joins at 8 s: from that on until a busy machine has made the next round in turn; else for three seconds."""

    def change(group: Group) -> None:
        second(8_200, leave_start_ns=ns(60_000), leave_end_ns=ns(60_100))(group)
        group.allocations.clear()
        group.divide(last_ms, "a", "b", among=ids)
        group.divide(after_ms, "a", among=(0, 1))

    first, *_ = in_ms(membership(change)[0].unsettled)
    assert first == (-3_000, after_ms + 1_500 if is_asleep else 11_200)


@pytest.mark.parametrize(
    ("last_ms", "after_ms", "story", "expected"),
    [
        pytest.param(14_600, 34_600, {}, [(14_700, 36_100)], id="a round near a change"),
        pytest.param(14_601, 34_601, {}, [], id="later"),
        pytest.param(14_600, 34_600, {"is_orderly": True}, [(14_700, 37_600)], id="with locks"),
        pytest.param(14_600, 17_720, {"settings": ROUNDS_OF_3_S}, [], id="within what a change may take"),
        pytest.param(14_600, 17_721, {"settings": ROUNDS_OF_3_S}, [(14_700, 19_221)], id="longer than that"),
    ],
)
def test_a_member_sleeps_through_the_next_change(
    last_ms: float, after_ms: float, story: dict[str, Any], expected: list[Span]
) -> None:
    """Another one joins by 8,100 ms, and leaves from 14,700 ms on, just after a round of the first."""

    def change(group: Group) -> None:
        second(8_200, 14_800, leave_start_ns=ns(14_700), leave_end_ns=ns(14_720))(group)
        group.allocations.clear()
        group.divide(last_ms, "a", among=(0, 1))
        group.divide(after_ms, "a", "b")

    assert in_ms(membership(change, **story)[0].moving(ns(900_000))) == expected


def test_a_member_sleeps_through_no_change_beside_a_fault() -> None:
    """It may have its next round in turn anyway, since no broker need notify it."""

    def change(group: Group) -> None:
        second(8_200, leave_start_ns=ns(60_000), leave_end_ns=ns(60_100))(group)
        group.divide(8_050, "a", "b")
        group.divide(28_050, "a", among=(0, 1))

    assert in_ms(membership(change)[0].moving(ns(900_000))) == [(8_000, 29_550)]
    assert in_ms(membership(change, **fault(5_000, 3_000))[0].moving(ns(900_000))) == []


@pytest.mark.parametrize(
    ("change", "story", "expected"),
    [
        pytest.param(nothing, {}, [(-3_000, 3_600)], id="a join"),
        pytest.param(life(join_end_ns=None), {}, [(-3_000, 3_500)], id="a start without an end"),
        pytest.param(leaves(), {}, [(-3_000, 3_600), (8_000, 14_520)], id="a leave"),
        pytest.param(leaves(), fault(from_ms=13_020), [(-3_000, 3_600), (8_000, 14_520)], id="a short pause after it"),
        pytest.param(leaves(), fault(13_020, 3_000), [(-3_000, 3_600), (8_000, 34_520)], id="a broker is paused soon"),
        pytest.param(leaves(), fault(13_021, 3_000), [(-3_000, 3_600), (8_000, 14_520)], id="five seconds after it"),
        pytest.param(
            pauses(9_000, 12_000), {}, [(-3_000, 3_600), (12_000, 21_500), (9_000, 38_500)], id="a pause of a process"
        ),
        pytest.param(pauses(9_000, None), {}, [(-3_000, 3_600), (9_000, inf)], id="one that does not end"),
    ],
)
def test_members_are_moving(change: Change, story: dict[str, Any], expected: list[Span]) -> None:
    """What a busy machine may take is five seconds here; since the join."""
    found, *_ = membership(change, **story)
    assert in_ms(found.moving(ns(-3_000))) == in_ms(found.moving()) == expected
    assert (-3_000, expected[0][1]) not in in_ms(found.moving(ns(-3_000) + 1))


@pytest.mark.parametrize(
    ("story", "until_ms"),
    [
        pytest.param(fault(), 10_001 + 1_500, id="a short pause"),
        pytest.param(fault(for_ms=3_000), 11_001 + 34_500, id="a pause"),
        pytest.param(fault(for_ms=20_000), 28_001 + 135_000, id="a pause in which it may have asked"),
        pytest.param(fault(is_kill=True), 10_001 + 50_000, id="a kill"),
        pytest.param(fault(for_ms=20_000, is_kill=True), 28_001 + 50_000, id="a longer kill"),
        pytest.param(swallows(RequestKind.HEARTBEAT), 13_001 + 2_000 + 34_500, id="lost heartbeats"),
        pytest.param(swallows(RequestKind.PULL), 41_001 + 1_000 + 5_000, id="lost pulls"),
    ],
)
def test_a_fault_disturbs(story: dict[str, Any], until_ms: float) -> None:
    """From five seconds before it to what it leaves behind."""
    found, *_ = membership(nothing, **story)
    assert [found.is_disturbed(ns(at_ms), ns(at_ms)) for at_ms in (2_999.999, 3_000, until_ms, until_ms + 0.001)] == [
        False,
        True,
        True,
        False,
    ]
    assert found.is_disturbed(ns(0), ns(3_000))
    assert not found.is_disturbed(ns(0), ns(2_999))


@pytest.mark.parametrize(
    ("change", "story", "expected"),
    [
        pytest.param(nothing, fault(for_ms=3_000), False, id="it asks nothing meanwhile"),
        pytest.param(nothing, fault(14_000, 2_999), True, id="a round meanwhile"),
        pytest.param(nothing, fault(13_998, 3_000), False, id="no round yet"),
        pytest.param(nothing, fault(20_000, 2_998), False, id="shorter than a question"),
        pytest.param(second(), fault(30_000, 2_999), True, id="a round since the first change"),
        pytest.param(nothing, {**fault(7_000, 2_999), "settings": {"heartbeat_broker_interval_ms": 13_000}}, True, id="a heartbeat"),
        pytest.param(fails(8_000), fault(2_001, 5_998), True, id="a hand-back meanwhile"),
        pytest.param(fails(8_001), fault(2_001, 5_998), False, id="a hand-back after it"),
        pytest.param(fails(3_000), fault(8_000, 3_000), True, id="a hand-back just before"),
        pytest.param(fails(2_999), fault(8_000, 3_000), False, id="a hand-back long before"),
        pytest.param(leaves(), fault(4_000, 3_999), True, id="a change meanwhile"),
        pytest.param(leaves(), fault(4_000, 3_998), False, id="a change after it"),
        pytest.param(leaves(), fault(13_000, 3_000), True, id="a change just before"),
        pytest.param(leaves(), fault(13_001, 3_000), False, id="a change long before"),
        pytest.param(nothing, swallows(RequestKind.HEARTBEAT, for_ms=20_000), False, id="on the wire"),
        pytest.param(nothing, {"faults": [fault_row("broker-b", 20_000, 9) | {"healed_ns": None}]}, False, id="it does not end"),
    ],
)  # fmt: skip
def test_a_client_may_have_closed_its_connection(change: Change, story: dict[str, Any], expected: bool) -> None:
    """If it may have asked a broker that was down for three seconds, by its healed instant, a millisecond after the heal."""
    found, _, (one,) = membership(change, **story)
    assert found.may_have_closed(one) is expected


@pytest.mark.parametrize(
    ("from_ms", "to_ms", "expected"),
    [
        (8_999, None, False),
        (9_000, None, True),
        (38_499, None, True),
        (38_500, None, False),
        (0, 8_999, False),
        (0, 9_000, True),
        (38_499, 40_000, True),
        (38_500, 40_000, False),
    ],
)
def test_a_paused_process_is_frozen(from_ms: float, to_ms: float | None, expected: bool) -> None:
    """From 9 s to a round after its end at 12 s, on a busy machine."""
    found, group, _ = membership(pauses(9_000, 12_000))
    to_ns = None if to_ms is None else ns(to_ms)
    assert found.is_frozen(group.lives[0], ns(from_ms), to_ns) is expected


def test_a_process_stays_frozen() -> None:
    """If its pause did not end."""
    found, group, _ = membership(pauses(9_000, None))
    assert found.is_frozen(group.lives[0], ns(900_000))


@pytest.mark.parametrize(
    ("at_ms", "members"), [(-3_001, ()), (-3_000, (0,)), (8_000, (0, 1)), (14_999, (0, 1)), (15_000, (0,))]
)
def test_members_that_live(at_ms: float, members: tuple[int, ...]) -> None:
    """From the beginning of a start to that of a leave; the last life of each member."""

    def change(group: Group) -> None:
        second()(group)
        group.members.insert(
            0, group.members[1] | {"incarnation": 2, "join_start_ns": ns(16_000), "leave_start_ns": None}
        )

    found, *_ = membership(change)
    assert tuple(each.member for each in found.living_at(ns(at_ms))) == members
    assert sorted((each.member, each.incarnation) for each in found.living_at(ns(16_000))) == [(0, 1), (1, 2)]


def views(change: Change, at_ms: float, **story: Any) -> Views:
    def with_round(group: Group) -> None:
        change(group)
        group.divide(at_ms, "a", "b", among=(0,))

    found, group, _ = membership(with_round, **story)
    return found.views(group.rounds[-1])


def stopped_at(at_ms: float) -> Row:
    """A process that was paused, and not again resumed."""
    return {"leave_start_ns": None, "leave_end_ns": None, "pauses": [{"from_ns": ns(at_ms), "until_ns": None}]}


ONE, BOTH = {"m0"}, {"m0", "m1"}


@pytest.mark.parametrize(
    ("change", "at_ms", "story", "surely", "possibly", "most"),
    [
        pytest.param(nothing, 7_000, {}, ONE, ONE, {"m0": 1}, id="one member"),
        pytest.param(both(is_listed(5_000, 0), second(8_200)), 4_998, {"brokers": ("broker-a",)}, ONE, ONE, {"m0": 1}, id="before the last list without another"),
        pytest.param(both(is_listed(5_000, 0), second(8_200)), 4_999, {"brokers": ("broker-a",)}, ONE, BOTH, {"m0": 1, "m1": 1}, id="with the last list without another"),
        pytest.param(second(8_200, 15_200), 5_000, {}, ONE, BOTH, {"m0": 1, "m1": 1}, id="three seconds before a list"),
        pytest.param(second(), 7_999, {}, ONE, ONE, {"m0": 1}, id="before another comes"),
        pytest.param(second(), 8_000, {}, ONE, BOTH, {"m0": 1}, id="another comes"),
        pytest.param(second(), 15_100 + 5_000, {}, ONE, BOTH, {"m0": 1}, id="five seconds after another has left"),
        pytest.param(second(), 15_100 + 5_001, {}, ONE, ONE, {"m0": 1}, id="later"),
        pytest.param(second(8_200), 12_200, {}, ONE, BOTH, {"m0": 1, "m1": 1}, id="four seconds after a list"),
        pytest.param(second(8_200), 12_201, {}, BOTH, BOTH, {"m0": 1, "m1": 1}, id="both are listed"),
        pytest.param(second(), 30_000, fault(21_100, 20_000), ONE, BOTH, None, id="a broker is paused as another has left"),
        pytest.param(second(), 30_000, fault(21_101, 20_000), ONE, ONE, None, id="it is paused later"),
        pytest.param(second(), 30_000, fault(7_999, 2_000), ONE, BOTH, {"m0": 1}, id="it was paused before"),
        pytest.param(second(), 30_000, fault(7_998, 2_000), ONE, ONE, {"m0": 1}, id="long before"),
        pytest.param(second(), 26_101, swallows(RequestKind.HEARTBEAT, from_ms=16_100), set(), BOTH, None, id="heartbeats are lost as another has left"),
        pytest.param(second(), 26_102, swallows(RequestKind.HEARTBEAT, from_ms=16_100), set(), ONE, None, id="they have come"),
        pytest.param(second(), 26_101, swallows(RequestKind.HEARTBEAT, from_ms=16_101), set(), ONE, None, id="they are lost later"),
        pytest.param(both(second(), pauses(19_100, 22_000)), 22_100, {}, set(), BOTH, {"m0": 1}, id="asked before its pause as another has left"),
        pytest.param(both(second(), pauses(19_101, 22_000)), 22_101, {}, set(), ONE, {"m0": 1}, id="asked before its pause, later"),
        pytest.param(both(second(), is_listed(8_200, 0, 1)), 12_201, {"brokers": ("broker-a",)}, BOTH, BOTH, {"m0": 1, "m1": 1}, id="the only broker lists both"),
        pytest.param(second(**stopped_at(9_000)), 148_000, {}, ONE, BOTH, {"m0": 1}, id="until one that stands still is forgotten"),
        pytest.param(second(**stopped_at(9_000)), 148_001, {}, ONE, ONE, {"m0": 1}, id="one that stands still is forgotten"),
        pytest.param(second(join_start_ns=None, join_end_ns=None), 7_000, {}, ONE, BOTH, {"m0": 1}, id="it is not known when another came"),
        pytest.param(second(client_id=None), 9_000, {}, ONE, None, {"m0": 1}, id="an unknown id"),
        pytest.param(pauses(6_000, 6_500), 8_000, {}, set(), ONE, {"m0": 1}, id="a member that was paused"),
        pytest.param(nothing, 9_000, fault(), ONE, ONE, {"m0": 1}, id="a short pause of a broker"),
        pytest.param(nothing, 9_000, fault(for_ms=20_000), ONE, ONE, None, id="repeated beside a long one"),
        pytest.param(nothing, 8_000, fault(for_ms=20_000), ONE, ONE, None, id="repeated as it begins"),
        pytest.param(nothing, 7_999, fault(for_ms=20_000), ONE, ONE, {"m0": 1}, id="not before it"),
        pytest.param(nothing, 28_001 + 139_000, fault(for_ms=20_000), ONE, ONE, None, id="until it is forgotten"),
        pytest.param(nothing, 28_001 + 139_001, fault(for_ms=20_000), ONE, ONE, {"m0": 1}, id="forgotten"),
        pytest.param(nothing, 9_000, fault(for_ms=20_000, is_kill=True), ONE, ONE, {"m0": 1}, id="not beside a kill"),
        pytest.param(nothing, 9_000, swallows(RequestKind.HEARTBEAT), set(), ONE, None, id="closed connections"),
        pytest.param(nothing, 7_999, swallows(RequestKind.HEARTBEAT), ONE, ONE, {"m0": 1}, id="before they are closed"),
        pytest.param(nothing, 8_000, swallows(RequestKind.HEARTBEAT), set(), ONE, None, id="as they are closed"),
        pytest.param(nothing, 13_001 + 11_000, swallows(RequestKind.HEARTBEAT), set(), ONE, None, id="until they beat"),
        pytest.param(nothing, 13_001 + 11_001, swallows(RequestKind.HEARTBEAT), ONE, ONE, {"m0": 1}, id="they have beaten"),
    ],
)  # fmt: skip
def test_a_round_may_have_had_lists(
    change: Change, at_ms: float, story: Row, surely: set[str], possibly: set[str] | None, most: dict[str, int] | None
) -> None:
    """Ids that are in each of them, those that may be, and how often; asked for at most four seconds before the round."""
    assert views(change, at_ms, **story) == Views(
        frozenset(surely), None if possibly is None else frozenset(possibly), most
    )


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ((), []),
        (((1, 2),), [(1, 2)]),
        (((1, 2), (3, 4)), [(1, 2), (3, 4)]),
        (((3, 4), (1, 2)), [(1, 2), (3, 4)]),
        (((1, 2), (2, 4)), [(1, 4)]),
        (((1, 5), (2, 4), (6, 7)), [(1, 5), (6, 7)]),
    ],
)
def test_spans_are_merged(spans: tuple[Span, ...], expected: list[Span]) -> None:
    """Those that touch are one."""
    assert list(merged(spans)) == expected


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ((), [(10, 20)]),
        (((1, 5),), [(10, 20)]),
        (((1, 10),), [(10, 20)]),
        (((1, 12),), [(12, 20)]),
        (((10, 12),), [(12, 20)]),
        (((12, 14),), [(10, 12), (14, 20)]),
        (((12, 20),), [(10, 12)]),
        (((15, inf),), [(10, 15)]),
        (((20, 30),), [(10, 20)]),
        (((30, 40),), [(10, 20)]),
        (((1, 40),), []),
        (((11, 12), (13, 14)), [(10, 11), (12, 13), (14, 20)]),
    ],
)
def test_times_outside_spans(spans: tuple[Span, ...], expected: list[Span]) -> None:
    """Between 10 and 20."""
    assert list(outside(spans, 10, 20)) == expected


S = 1_000_000_000


def test_lists_are_in_force() -> None:
    """Unknown before the first question; each since the question before, or three seconds before its own, until the next answer."""
    rows = [
        Listing(0, "a", 10 * S, 11 * S, ("x",)),
        Listing(99, "a", 20 * S, 21 * S, ()),
        Listing(199, "a", 30 * S, None, ("y",)),
        Listing(200, "a", 40 * S, 41 * S, ("z",)),
    ]
    assert list(lists_in_force(rows)) == [
        (-inf, 10 * S, ()),
        (7 * S, 21 * S, ("x",)),
        (17 * S, 30 * S, ()),
        (27 * S, 41 * S, ("y",)),
        (30 * S, inf, ("z",)),
    ]
    assert list(lists_in_force([])) == []
