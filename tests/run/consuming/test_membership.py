"""The membership script, carried out on scripted groups."""

import time
from typing import Any, cast

import pytest

from rocketdiff.core.consuming.plan import (
    ApplicationEvent,
    ConsumerCall,
    GroupPlan,
    ListenerKind,
    MemberChange,
    MemberEvent,
    PlannedQueue,
)
from rocketdiff.run.case.consuming.membership import MembershipThread
from rocketdiff.run.case.consuming.names import CaseNames

MS = 1_000_000
JOIN, LEAVE, KILL, PAUSE = MemberChange.JOIN, MemberChange.LEAVE, MemberChange.KILL, MemberChange.PAUSE


class Signal:
    """Is decided at the third look."""

    sent_ns = looks = 0

    def __init__(self, orders: list[tuple[Any, ...]], what: str, number: int) -> None:
        self._orders, self._what, self._number = orders, what, number

    def send(self) -> None:
        self.sent_ns = time.monotonic_ns()
        self._orders.append((self._what, self._number, self))

    def is_decided(self) -> bool:
        self.looks += 1
        return self.looks == 3


NAMES = CaseNames("case", ("broker-a", "east"), 2)


class Group:
    """Keeps its orders, with the time that is left until each."""

    def __init__(self, *lost: int) -> None:
        self.lost = lost
        self.orders: list[tuple[Any, ...]] = []

    def join(self, number: int, at_ns: int) -> None:
        self.orders.append(("join", number, at_ns))

    def leave(self, number: int, at_ns: int, *, is_last: bool) -> None:
        self.orders.append(("leave", number, at_ns, is_last))

    def apply(self, number: int, at_ns: int, what: str, queue: tuple[str, int], offset: int | None) -> None:
        self.orders.append((what, number, at_ns, queue, offset))

    def aim(self, number: int, _what: str) -> "Signal | None":
        return None if number in self.lost else Signal(self.orders, _what, number)

    def hold(self, number: int) -> None:
        self.orders.append(("hold", number))

    def release(self, number: int) -> None:
        self.orders.append(("release", number))

    def note(self, number: int, what: str, at_ns: int, interruption: "Signal") -> None:
        self.orders.append((f"{what} noted", number, at_ns, interruption.looks))


def carried_out(*events: MemberEvent, origin_ns: int, groups: tuple[Any, ...]) -> None:
    plan = GroupPlan(1, ListenerKind.CONCURRENT, membership=events)
    MembershipThread(plan, NAMES, cast(Any, groups), origin_ns).join()


def test_both_arms_are_ordered_for_the_same_instant() -> None:
    """Each event has the time of the script; a leave is the last one if the member does not come back."""
    groups, origin_ns = (Group(), Group()), time.monotonic_ns() - 5_000 * MS
    events = (MemberEvent(1, 1, JOIN), MemberEvent(2, 0, LEAVE), MemberEvent(3, 0, JOIN), MemberEvent(4.5, 1, LEAVE))
    carried_out(*events, origin_ns=origin_ns, groups=groups)
    assert groups[0].orders == groups[1].orders
    assert [(*order[:2], (order[2] - origin_ns) // MS, *order[3:]) for order in groups[0].orders] == [
        ("join", 1, 1_000),
        ("leave", 0, 2_000, False),
        ("join", 0, 3_000),
        ("leave", 1, 4_500, True),
    ]


def test_calls_of_applications_are_ordered_of_both_arms() -> None:
    """Letters of a scenario are brokers in the order of their names."""
    groups, origin_ns = (Group(), Group()), time.monotonic_ns() - 9_000 * MS
    calls = (
        ApplicationEvent(3, 0, ConsumerCall.SEEK, PlannedQueue("b", 1), 7),
        ApplicationEvent(4, 0, ConsumerCall.PAUSE, PlannedQueue("a", 0)),
    )
    MembershipThread(
        GroupPlan(1, ListenerKind.LITE_PULL, application=calls), NAMES, cast(Any, groups), origin_ns
    ).join()
    assert groups[0].orders == groups[1].orders
    assert groups[0].orders == [
        ("seek", 0, origin_ns + 3_000 * MS, ("east", 1), 7),
        ("pause", 0, origin_ns + 4_000 * MS, ("broker-a", 0), None),
    ]


def test_an_order_comes_before_its_time() -> None:
    """It is written ahead, so that both members have read it."""
    group, origin_ns = Group(), time.monotonic_ns()
    carried_out(MemberEvent(0.2, 1, JOIN), origin_ns=origin_ns, groups=(group,))
    assert group.orders == [("join", 1, origin_ns + 200 * MS)]


def test_signals_are_sent_at_their_time_and_proven_meanwhile() -> None:
    """They are aimed ahead; a pause has an end; other events do not wait for a proof. A lost member gets none."""
    origin_ns, groups = time.monotonic_ns() - 900 * MS, (Group(), Group(1))
    events = (MemberEvent(1, 1, KILL), MemberEvent(1.001, 0, PAUSE, 0.05), MemberEvent(1.002, 2, JOIN))
    carried_out(*events, origin_ns=origin_ns, groups=groups)
    first, second = ([order[0] for order in group.orders] for group in groups)
    done = [[what for what in each if not what.endswith("noted")] for each in (first, second)]
    assert done == [
        ["kill", "hold", "pause", "join", "resume", "release"],
        ["hold", "pause", "join", "resume", "release"],
    ]
    noted = [sorted(what for what in each if what.endswith("noted")) for each in (first, second)]
    assert noted == [["kill noted", "pause noted", "resume noted"], ["pause noted", "resume noted"]]
    sent = {
        order[0]: (order[2].sent_ns - origin_ns) / MS for order in groups[0].orders if order[0] in ("kill", "resume")
    }
    assert sent["kill"] >= 1_000 and sent["resume"] >= 1_051
    assert all(order[3] == 3 for order in groups[0].orders if order[0].endswith("noted"))


class Broken(Group):
    """Fails at the first order."""

    def join(self, number: int, at_ns: int) -> None:
        raise AssertionError(f"{number} at {at_ns}")


def test_an_error_of_ours_is_raised_at_the_end() -> None:
    """A script that cannot be carried out ends the case, not silently."""
    with pytest.raises(AssertionError, match="1 at"):
        carried_out(MemberEvent(0, 1, JOIN), origin_ns=0, groups=(Broken(),))


def test_a_stopped_script_orders_nothing_more() -> None:
    """A case that is cut short orders no further event."""
    group = Group()
    plan = GroupPlan(1, ListenerKind.CONCURRENT, membership=(MemberEvent(3_600, 1, JOIN),))
    script = MembershipThread(plan, NAMES, cast(Any, (group,)), time.monotonic_ns())
    script.stop()
    script.join()
    assert group.orders == []
