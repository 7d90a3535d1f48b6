"""When a group counts as settled, from what its members and the brokers say."""

from collections import Counter
from dataclasses import replace

import pytest

from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import ListedMembers, WireEvent, WireExchange
from rocketdiff.core.records.consuming import Allocated
from rocketdiff.run.case.consuming.settling import LivingMember, why_unsettled
from rocketdiff.run.case.consuming.wire_view import AGAIN_NS, pulled_queues

A0, A1, B0 = ("broker-a", 0), ("broker-a", 1), ("broker-b", 0)
TOPICS = {"T": frozenset({A0, A1}), "%RETRY%G": frozenset({B0})}
IDS = ("1@m0", "1@m1")


def member(client_id: str, fed: tuple[tuple[str, int], ...], retry: tuple[tuple[str, int], ...] = ()) -> LivingMember:
    """A member that owns what it was allocated."""
    allocated = {
        "T": Allocated(1, 1, 0, "T", "AVG", IDS, (A0, A1), fed),
        "%RETRY%G": Allocated(2, 1, 0, "%RETRY%G", "AVG", IDS, (B0,), retry),
    }
    owned = (*(("T", *queue) for queue in fed), *(("%RETRY%G", *queue) for queue in retry))
    return LivingMember(client_id, allocated, Counter(owned))


def listed(broker: str, *ids: str) -> ListedMembers:
    return ListedMembers(Arm.BASELINE, 0, broker, 1, 2, 0, ids)


FIRST, SECOND = member("1@m0", (A0,), (B0,)), member("1@m1", (A1,))
ALL_LISTED = {"broker-a": listed("broker-a", "1@m1", "1@m0"), "broker-b": listed("broker-b", *IDS)}


def test_a_group_whose_shares_are_whole_is_settled() -> None:
    """Each queue has one owner, each member knows all ids, each broker lists each id once."""
    assert why_unsettled((FIRST, SECOND), TOPICS, ALL_LISTED, ("broker-a", "broker-b")) == ""


def unasked(who: LivingMember, topic: str) -> LivingMember:
    return replace(who, allocated={name: each for name, each in (who.allocated or {}).items() if name != topic})


def among(who: LivingMember, *ids: str) -> LivingMember:
    return replace(who, allocated={name: replace(each, ids=ids) for name, each in (who.allocated or {}).items()})


@pytest.mark.parametrize(
    ("members", "lists", "reason"),
    [
        pytest.param(
            (FIRST, unasked(SECOND, "%RETRY%G")), {}, "1@m1 was allocated nothing of %RETRY%G", id="no retry topic"
        ),
        pytest.param((FIRST, among(SECOND, "1@m1")), {}, "not ['1@m0', '1@m1']", id="a member that knows itself alone"),
        pytest.param((FIRST, among(SECOND, *IDS, "1@m1")), {}, "not ['1@m0', '1@m1']", id="an id twice"),
        pytest.param(
            (FIRST, replace(SECOND, owned=Counter())), {}, "1@m1 does not own its share of T", id="a share not taken"
        ),
        pytest.param((FIRST, member("1@m1", (A0,))), {}, "queues of T have", id="two owners and none"),
        pytest.param((FIRST, member("1@m1", ())), {}, "queues of T have", id="a queue without owner"),
        pytest.param((FIRST, SECOND), {"broker-b": None}, "broker-b has not answered", id="a broker not asked"),
        pytest.param(
            (FIRST, SECOND),
            {"broker-b": replace(listed("broker-b"), answered_ns=None)},
            "broker-b has not answered",
            id="silence",
        ),
        pytest.param(
            (FIRST, SECOND), {"broker-b": listed("broker-b", "1@m0")}, "broker-b lists ['1@m0']", id="unknown"
        ),
        pytest.param(
            (FIRST, SECOND),
            {"broker-b": listed("broker-b", *IDS, "1@m0")},
            "broker-b lists",
            id="an id of two connections",
        ),
    ],
)
def test_a_group_that_is_not_settled_is_so_for_a_reason(
    members: tuple[LivingMember, ...], lists: dict[str, ListedMembers | None], reason: str
) -> None:
    """Any member or broker that sees the group otherwise is named."""
    seen = {name: each for name, each in {**ALL_LISTED, **lists}.items() if each is not None}
    assert reason in why_unsettled(members, TOPICS, seen, ("broker-a", "broker-b"))


def unseen(who: LivingMember, *more: tuple[str, str, int]) -> LivingMember:
    """A member that reports nothing: its relay sees what it pulls."""
    return replace(who, allocated=None, owned=Counter((*who.owned, *more)))


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        pytest.param((unseen(FIRST), unseen(SECOND)), "", id="each its share"),
        pytest.param((unseen(FIRST), SECOND), "", id="beside one that reports"),
        pytest.param(
            (unseen(FIRST), unseen(member("1@m1", (A0,)))),
            "1@m1 works on [('broker-a', 0)] of T, and its share among ['1@m0', '1@m1'] is [('broker-a', 1)]",
            id="another's queue",
        ),
        pytest.param(
            (unseen(FIRST, ("T", *A1)), unseen(SECOND)), "1@m0 works on", id="a queue that it has not given up"
        ),
        pytest.param((unseen(FIRST), unseen(member("1@m1", ()))), "1@m1 works on [] of T", id="no pull"),
        pytest.param(
            (unseen(FIRST), unseen(SECOND, ("T", *A1))),
            "1@m1 has 2 pulls of queue 1 of broker-a (T) under way at once",
            id="two pulls at once",
        ),
    ],
)
def test_members_that_report_nothing_are_settled_by_their_pulls(members: tuple[LivingMember, ...], reason: str) -> None:
    """Each pulls exactly its share by the rules, each queue once."""
    seen = why_unsettled(members, TOPICS, ALL_LISTED, ("broker-a", "broker-b"), strategy="AVG")
    assert seen.startswith(reason)
    assert bool(seen) is bool(reason)


@pytest.mark.parametrize(
    ("pulls", "now_ns", "seen"),
    [
        pytest.param([(0, 1, None)], 9_000_000_000, {A0: 1}, id="held"),
        pytest.param([(0, 1, 50)], 50 + AGAIN_NS, {A0: 1}, id="just answered"),
        pytest.param([(0, 1, 50)], 51 + AGAIN_NS, {}, id="answered long ago"),
        pytest.param([(0, 1, 50), (1, 60, None)], 70, {A0: 1}, id="the next one"),
        pytest.param([(0, 1, None), (1, 60, None)], 70, {A0: 2}, id="two at once"),
    ],
)
def test_a_relay_shows_which_queues_a_member_pulls(
    pulls: list[tuple[int, int, int | None]], now_ns: int, seen: dict[tuple[str, int], int]
) -> None:
    """A pull that is under way, or was answered so lately that the next one is still to come."""
    made = [
        WireExchange(Arm.BASELINE, 0, n, 1, "broker-a", WireEvent.PULL, in_ns, answered_ns=over, topic="T", broker="broker-a", queue_id=0)
        for n, in_ns, over in pulls
    ]  # fmt: skip
    under_way = frozenset(n for n, _, over in pulls if over is None)
    assert pulled_queues(made, under_way, now_ns) == Counter({("T", *queue): n for queue, n in seen.items()})


@pytest.mark.parametrize(
    ("owned", "reason"),
    [
        pytest.param(((A0,), (A1,)), "", id="each its own"),
        pytest.param(((A0,), ()), "1@m1 works on [] of T, and [('broker-a', 1)] are assigned to it", id="one works on none"),
        pytest.param(((A0, A1), (A1,)), "1@m0 works on [('broker-a', 0), ('broker-a', 1)] of T", id="one works on more"),
    ],
)  # fmt: skip
def test_members_work_on_the_queues_that_are_assigned_to_them(
    owned: tuple[tuple[tuple[str, int], ...], ...], reason: str
) -> None:
    """They divide nothing among themselves; brokers list them all the same."""
    members = [replace(member(f"1@m{number}", own), allocated={}) for number, own in enumerate(owned)]
    fed, assigned = {"T": TOPICS["T"]}, (frozenset({A0}), frozenset({A1}))
    seen = why_unsettled(members, fed, ALL_LISTED, ("broker-a", "broker-b"), assigned=assigned)
    assert seen.startswith(reason) and bool(seen) == bool(reason)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        pytest.param((member("1@m0", (A0, A1)), member("1@m1", (A0, A1))), "", id="both own all"),
        pytest.param((member("1@m0", (A0, A1)), SECOND), "1@m1 does not own every queue of T", id="one owns a share"),
    ],
)
def test_members_of_a_broadcasting_group_own_every_queue(members: tuple[LivingMember, ...], reason: str) -> None:
    """They compute no share; brokers list them all the same."""
    bare = tuple(replace(each, allocated={}) for each in members)
    fed = {"T": TOPICS["T"]}
    assert why_unsettled(bare, fed, ALL_LISTED, ("broker-a", "broker-b"), is_shared=False) == reason
