"""What a member may deliver again, leave out, or deliver after it has given a queue up, at each limit."""

from collections.abc import Callable

import pytest

from rocketdiff.analysis.facts import DifferenceFact
from tests.analysis.consuming.group_story import Group, differences_of

AGAIN, GAP, LATE = "redelivery.without-cause", "redelivery.gap", "redelivery.after-giving-up"
BELOW, ABOVE = "redelivery.below-the-committed-offset", "redelivery.above-the-committed-offset"


def signatures(change: Callable[[Group], None], **story: object) -> list[str]:
    return [fact.signature for fact in differences(change, "redelivery", **story)]


def differences(
    change: Callable[[Group], None], wanted: str = "redelivery", /, **story: object
) -> list[DifferenceFact]:
    return differences_of(wanted, change, **story)


def fail_and_keep(group: Group, send: int, after_ms: float = 5_000, times: int = 1, result: str = "throw") -> None:
    """A message fails at its first delivery, and its member delivers it again so long after the end of that call."""
    group.drop(send)
    at_ms = send * 100 + 2
    group.deliver(send, at_ms, result=result)
    group.deliver(send, at_ms + 1 + after_ms, times=times)


@pytest.mark.parametrize(
    ("after_ms", "times", "result", "is_orderly", "expected"),
    [
        (4_900, 1, "throw", False, []),
        (4_899.999, 1, "throw", False, [AGAIN]),
        (5_000, 0, "throw", False, [AGAIN]),
        (5_000, 2, "throw", False, [AGAIN]),
        (5_000, 1, "success", False, [AGAIN]),
        (0, 1, "throw", True, []),
        (-0.001, 1, "throw", True, [AGAIN]),
    ],
)
def test_a_message_comes_again_from_its_member(
    after_ms: float, times: int, result: str, is_orderly: bool, expected: list[str]
) -> None:
    """With one failure more, and unless it is consumed in order five seconds later; a tenth of a second is the clocks'."""

    def change(group: Group) -> None:
        fail_and_keep(group, 78, after_ms, times, result)

    assert signatures(change, is_orderly=is_orderly) == expected


def test_a_message_whose_call_has_not_ended_comes_again() -> None:
    """Its member may not know yet whether it failed."""

    def change(group: Group) -> None:
        fail_and_keep(group, 78)
        group.calls_of(78)[0] |= {"end_ns": None, "result": None}

    (fact,) = differences(change)
    assert (fact.signature, fact.observed) == (AGAIN, "one 5001 ms after a call that has not ended")


@pytest.mark.parametrize(
    ("kept", "pauses", "is_orderly", "expected"),
    [
        (2, (), False, []),
        (3, (), False, [AGAIN] * 3),
        (3, (), True, []),
        (3, ((8_000, 2_000),), False, []),
    ],
)
def test_few_hand_backs_come_to_nothing_without_a_fault(
    kept: int, pauses: tuple[tuple[int, int], ...], is_orderly: bool, expected: list[str]
) -> None:
    """Two of a case with fewer than sixty failures; as many as there are beside a pause."""

    def change(group: Group) -> None:
        for send in range(79, 79 + 2 * kept, 2):
            fail_and_keep(group, send)

    assert signatures(change, pauses=pauses, is_orderly=is_orderly) == expected


@pytest.mark.parametrize(("after_ms", "expected"), [(2_000, []), (2_000.001, [LATE])])
def test_a_queue_that_was_given_up_is_delivered_from(after_ms: float, expected: list[str]) -> None:
    """By a thread that waits for a core, for two seconds."""

    def change(group: Group) -> None:
        for send in range(101, 200, 2):
            group.drop(send)
        group.own(10_050, "a", "A", "B")
        group.deliver(101, 10_050 + after_ms)

    assert signatures(change) == expected


@pytest.mark.parametrize(
    ("until_ms", "committed", "expected"),
    [
        (13_501.999, 100, []),
        (13_502, 100, [GAP]),
        (13_502, 62, [GAP]),
        (13_502, 61, []),
        (17_501.999, 61, []),
        (17_502, 61, [GAP]),
    ],
)
def test_an_offset_is_left_out(until_ms: float, committed: int, expected: list[str]) -> None:
    """Offset 61, unless the queue is given up a second after the call with offset 62 began, at 12,502 ms, or five if 61 is not committed."""

    def change(group: Group) -> None:
        leave_out_one(group, until_ms, committed)

    found = differences(change)
    assert [fact.signature for fact in found] == expected
    assert all("offset 61 of " in fact.expected and fact.observed == "the next is 62" for fact in found)


@pytest.mark.parametrize(
    ("until_ms", "committed", "is_lost"),
    [(13_501.999, 100, True), (13_502, 61, False), (17_501.999, 61, False), (17_502, 61, True)],
)
def test_a_message_that_was_left_out_is_lost(until_ms: float, committed: int, is_lost: bool) -> None:
    """Not if its call may still have begun, and the next owner begins at it."""

    def change(group: Group) -> None:
        leave_out_one(group, until_ms, committed)

    found = differences(change, "delivered")
    assert [fact.send for fact in found if fact.signature == "delivered.never"] == [123] * is_lost


def leave_out_one(group: Group, until_ms: float, committed: int) -> None:
    """Offset 61 of the queue is not delivered, 62 is, and the queue is given up. committed: the highest committed offset."""
    for send in (123, *range(127, 200, 2)):
        group.drop(send)
    group.own(until_ms, "a", "A", "B")
    for row in (*group.offsets, *group.committed):
        if (row["broker"], row["kind"]) == ("broker-b", "fed") and row["value"] is not None:
            row["value"] = min(row["value"], committed)


@pytest.mark.parametrize(
    ("answered", "first", "expected"),
    [(50, 50, []), (50, 49, [BELOW]), (50, 51, [ABOVE]), (51, 51, [ABOVE]), (40, 40, [BELOW]), (-1, 0, [BELOW])],
)
def test_where_a_member_begins_a_queue(answered: int, first: int, expected: list[str]) -> None:
    """At the offset that its broker answered, which all had finished and its last member had committed: 50 at 10 s."""

    def change(group: Group) -> None:
        for send in range(101, 200, 2):
            group.drop(send)
        group.own(10_050, "a", "A", "B")
        group.offset("query", 15_099, "broker-b", answered)
        group.own(15_100, "a", "b", "A", "B")
        for offset in range(first, 100):
            group.deliver(2 * offset + 1, max(15_101, offset * 200 + 102))

    assert signatures(change) == expected
