"""The order of deliveries, with rows by hand: what is let pass, and what a hand-over may look like."""

from collections.abc import Callable
from functools import partial

import pytest

from rocketdiff.core.consuming.watched import TopicKind
from tests.analysis.consuming.group_story import BROKERS, Group, Row, Story, client_id, faithful, fault_row, ns

NAME = "delivery-order"

Change = Callable[[Group], None]


def in_order() -> Group:
    """Return the faithful group, whose messages all succeed."""
    group = faithful()
    retried = {row["call"] for row in group.calls if row["kind"] == TopicKind.RETRY}
    group.calls = [row | {"result": "success"} for row in group.calls if row["call"] not in retried]
    group.deliveries = [row for row in group.deliveries if row["call"] not in retried]
    group.returned.clear()
    return group


def found(change: Change, **story: object) -> set[str]:
    """Return the signatures of this check for a changed candidate."""
    made = Story(in_order(), in_order(), checks=(NAME,), is_orderly=True, **story)  # type: ignore[arg-type]  # fields of a story
    change(made.candidate)
    return {fact.signature.removeprefix(f"{NAME}.") for fact in made.differences(NAME)}


def fail(group: Group, send: int, *, again_after_ms: float, times: int = 0, suspend_ms: int | None = 50) -> None:
    """A message fails once, and comes again so long after the end of its call."""
    (row,) = group.calls_of(send)
    row |= {"result": "later", "suspend_ms": suspend_ms, "end_ns": row["start_ns"] + 1_000_000}
    for delivery in group.deliveries:
        if delivery["call"] == row["call"]:
            delivery["times"] = times
    at_ms = (row["end_ns"] - ns(0)) / 1e6 + again_after_ms
    group.deliver(send, at_ms, times=times + 1)


def hand_over(
    group: Group, at_ms: float, *, leaves: bool = False, killed: bool = False, after_ms: float = 0, call_ms: float = 1
) -> None:
    """Member 1 takes broker-b's queue so long after member 0 gave it up, or died; member 0's last call lasts call_ms."""
    life: Row = {**group.members[0], "member": 1, "client_id": client_id(1)}
    group.members.append(life)
    group.own(at_ms, "a", "A", "B")
    if leaves or killed:
        group.members[0] |= {"leave_start_ns": ns(at_ms), "leave_end_ns": ns(at_ms + 20)}
    if killed:
        group.members[0] |= {"leave_start_ns": None, "leave_end_ns": None, "killed_ns": ns(at_ms), "ended": "killed"}
    offset = int(at_ms // 200)
    group.offset("query", at_ms + after_ms, BROKERS[1], offset, member=1)
    group.own(at_ms + after_ms, "b", member=1)
    calls = {row["call"]: row for row in group.calls}
    before, free_ns = None, ns(at_ms + after_ms)
    for row in group.deliveries:
        call = calls[row["call"]]
        if call["broker"] != BROKERS[1]:
            continue
        if call["start_ns"] >= ns(at_ms):
            row["member"] = call["member"] = 1
            call["start_ns"] = max(call["start_ns"], free_ns)
            call["end_ns"] = free_ns = max(call["end_ns"], call["start_ns"] + 1)
        else:
            before = call
    assert before is not None
    before["end_ns"] = before["start_ns"] + int(call_ms * 1e6)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(partial(fail, send=31, again_after_ms=60), set(), id="again when it was due"),
        pytest.param(partial(fail, send=31, again_after_ms=20), {"repeated"}, id="again too soon"),
        pytest.param(
            partial(fail, send=31, again_after_ms=60, suspend_ms=None), {"repeated"}, id="sooner than the default"
        ),
        pytest.param(
            partial(fail, send=31, again_after_ms=400), {"overtaken", "repeated"}, id="after the next message"
        ),
        pytest.param(partial(hand_over, at_ms=10_000), set(), id="a clean hand-over"),
        pytest.param(partial(hand_over, at_ms=10_000, call_ms=250), {"two-owners"}, id="beside a call"),
        pytest.param(partial(hand_over, at_ms=10_000, call_ms=900, after_ms=600), set(), id="beside a long call"),
        pytest.param(partial(hand_over, at_ms=10_000, call_ms=250, leaves=True), set(), id="beside one that leaves"),
        pytest.param(
            partial(hand_over, at_ms=2_000, killed=True, after_ms=1_500), {"lock-not-awaited"}, id="soon after a death"
        ),
    ],
)
def test_changes_of_a_group_are_allowed_or_named(change: Change, expected: set[str]) -> None:
    """Each change of a faithful group has the signatures that the rules leave no doubt about."""
    assert found(change) == expected


def test_a_message_that_has_failed_too_often_does_not_come_again() -> None:
    """With its limit reached it is sent away, and the queue goes on."""
    limit: dict[str, int | str] = {"max_reconsume_times": 1}
    again = partial(fail, send=31, again_after_ms=60, times=1)
    assert found(again, settings=limit) == {"repeated"}
    assert found(again, settings={"max_reconsume_times": 2}) == set()


def test_a_broker_that_was_down_may_have_lost_the_locks() -> None:
    """It is left open who may consume its queue then."""
    change = partial(hand_over, at_ms=2_000, killed=True, after_ms=1_500)
    assert found(change, faults=[fault_row(BROKERS[1], 1_000, 500, is_kill=True)]) == set()


def test_both_members_of_a_queue_in_turn_are_seen() -> None:
    """A member that goes on with a queue after another one has begun has no lock for it."""

    def goes_on(group: Group) -> None:
        hand_over(group, 10_000)
        for row in group.deliveries:
            if row["member"] == 1 and row["queue_offset"] % 2:
                row["member"] = 0
                (call,) = [each for each in group.calls if each["call"] == row["call"]]
                call["member"] = 0

    assert found(goes_on) == {"two-owners"}
