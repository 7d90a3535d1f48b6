"""What a member may deliver again, leave out, or deliver after it has given a queue up, at each limit."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.analysis.registry import judge_case
from rocketdiff.traces.schema import TableName
from tests.analysis.consuming.group_story import Group, Story, differences_of, fault_row, ns

AGAIN, GAP, LATE = "redelivery.without-cause", "redelivery.gap", "redelivery.after-giving-up"
BELOW, ABOVE = "redelivery.below-the-committed-offset", "redelivery.above-the-committed-offset"
NO_MESSAGE = -1


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
        (-0.000_001, 1, "throw", True, [AGAIN]),
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
    ("kept", "stops", "story", "expected"),
    [
        (2, None, {}, []),
        (3, None, {}, [AGAIN] * 3),
        (3, None, {"is_orderly": True}, []),
        (3, None, {"pauses": ((8_000, 2_000),)}, []),
        (3, (7_000, 7_903), {}, []),
        (3, (7_000, 7_902), {}, [AGAIN] * 3),
        (3, (16_303, 16_400), {}, []),
        (3, (16_304, 16_400), {}, [AGAIN] * 3),
    ],
)
def test_few_hand_backs_come_to_nothing_without_a_fault(
    kept: int, stops: tuple[int, int] | None, story: dict[str, Any], expected: list[str]
) -> None:
    """
    Two of a case with fewer than sixty failures; as many as there are beside a pause of a broker.

    stops: a pause of the member's process, with the end of the first call, or eight seconds after the last one's.
    """

    def change(group: Group) -> None:
        for send in range(79, 79 + 2 * kept, 2):
            fail_and_keep(group, send)
        if stops is not None:
            group.members[0]["pauses"] = [{"from_ns": ns(stops[0]), "until_ns": ns(stops[1])}]

    assert signatures(change, **story) == expected


@pytest.mark.parametrize(("after_ms", "expected"), [(2_000, []), (2_000.001, [(LATE, "one 2000 ms after that")])])
def test_a_queue_that_was_given_up_is_delivered_from(after_ms: float, expected: list[tuple[str, str]]) -> None:
    """By a thread that waits for a core, for two seconds."""

    def change(group: Group) -> None:
        for send in range(101, 200, 2):
            group.drop(send)
        group.own(10_050, "a", "A", "B")
        group.deliver(101, 10_050 + after_ms)

    assert [(fact.signature, fact.observed) for fact in differences(change)] == expected


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
    ("answered", "first", "story", "expected"),
    [
        (50, 50, {}, []),
        (50, 49, {}, [(BELOW, NO_MESSAGE)]),
        (50, 51, {}, [(ABOVE, NO_MESSAGE)]),
        (51, 51, {}, [(ABOVE, 101)]),
        (40, 40, {}, [(BELOW, NO_MESSAGE)]),
        (-1, 0, {}, [(BELOW, NO_MESSAGE)]),
        (40, 40, {"faults": [fault_row("broker-b", -900, 897)]}, [(BELOW, NO_MESSAGE)]),
        (40, 40, {"faults": [fault_row("broker-b", -900, 898)]}, []),
    ],
)
def test_where_a_member_begins_a_queue(
    answered: int, first: int, story: dict[str, Any], expected: list[tuple[str, int]]
) -> None:
    """
    At the offset that its broker answered, which all had finished and its last member had committed.

    That was 50 at 10 s, unless it may have been written by a request of before a fault. With the message that nobody had finished.
    """
    facts = differences(begins(answered, first), **story)
    assert [(fact.signature, fact.send) for fact in facts] == expected


def test_where_a_member_begins_is_judged_without_the_messages() -> None:
    """The topic was not read back."""
    made = Story()
    begins(51, 51)(made.candidate)
    trace = made.trace()
    kept = {key: table for key, table in trace.tables.items() if key[0] is not TableName.HELD}
    facts = (each.fact for each in judge_case(replace(trace, tables=kept), wanted={"redelivery"}))
    assert [(fact.signature, fact.send) for fact in facts if isinstance(fact, DifferenceFact)] == [(ABOVE, NO_MESSAGE)]


@pytest.mark.parametrize(("until_ms", "expected"), [(16_100.999, []), (16_101, [ABOVE])])
def test_a_member_that_soon_gives_a_queue_up_may_begin_above(until_ms: float, expected: list[str]) -> None:
    """Within a second of its first call: that of the offset before may not have begun."""

    def change(group: Group) -> None:
        begins(50, 51, until=52)(group)
        group.own(until_ms, "a", "A", "B")

    assert signatures(change) == expected


def test_a_first_offset_that_is_not_known_is_not_compared() -> None:
    """The client reports none."""
    assert signatures(lambda group: group.offsets.clear()) == []


def begins(answered: int, first: int, *, until: int = 100) -> Callable[[Group], None]:
    """A member takes broker-b's queue at 15.1 s, and delivers it from an offset on, until another one."""

    def change(group: Group) -> None:
        for send in range(101, 200, 2):
            group.drop(send)
        group.own(10_050, "a", "A", "B")
        group.offset("query", 15_099, "broker-b", answered)
        group.own(15_100, "a", "b", "A", "B")
        for offset in range(first, until):
            group.deliver(2 * offset + 1, max(15_101, offset * 200 + 102))

    return change
