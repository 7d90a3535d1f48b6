"""Which failed calls must leave a copy, and which copies may come from calls that were not seen, at each limit."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.consuming.failures import Failures, copies_by_send, most_reconsume_times
from rocketdiff.analysis.consuming.story import GroupStory, story_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind, Frames, RequestKind, WireHit
from tests.analysis.consuming.group_story import BROKERS, LEAVE_MS, Row, Story, fault_row, ns, wall

FAILED = 77
"""Its call lasts from 7,702 to 7,703 ms."""

END_MS = 7_703


def group_of(story: Story) -> GroupStory:
    return story_of(story.trace()).groups[Arm.CANDIDATE]


def failures_of(story: Story) -> Failures:
    case = story_of(story.trace())
    return Failures(case, case.groups[Arm.CANDIDATE])


def is_certain(story: Story) -> bool:
    return failures_of(story).of(group_of(story).by_send[FAILED][0]).is_certain


def may_be_lost(story: Story) -> bool:
    return failures_of(story).of(group_of(story).by_send[FAILED][0]).may_be_lost


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        pytest.param(fault_row("broker-a", END_MS + 8_000, 9), False, id="both ways end beside it"),
        pytest.param(fault_row("broker-a", END_MS + 8_001, 9), True, id="both ways have ended"),
        pytest.param(fault_row("broker-b", 1_000, END_MS - 5_000 - 1_001), False, id="five seconds after it"),
        pytest.param(fault_row("broker-b", 1_000, END_MS - 5_000 - 1_002), True, id="later after it"),
        pytest.param(fault_row("broker-b", 1_000, 9) | {"healed_ns": None}, False, id="it does not end"),
    ],
)
def test_a_failure_near_a_fault_may_leave_no_copy(fault: Row, expected: bool) -> None:
    """Up to eight seconds before it, for both ways of a hand-back, and five after it."""
    assert is_certain(Story(faults=[fault])) is expected


@pytest.mark.parametrize(("of", "expected"), [(RequestKind.SEND_BACK, False), (RequestKind.PULL, True)])
def test_a_fault_on_the_wire_may_meet_hand_backs(of: RequestKind, expected: bool) -> None:
    """If it hits them."""
    fault = fault_row("broker-b", 7_000, 1_000, kind=FaultKind.WIRE_SWALLOW)
    assert is_certain(Story(faults=[fault], hits={"0": WireHit(of, Frames.REQUESTS)})) is expected


@pytest.mark.parametrize(
    ("from_ms", "until_ms", "expected"),
    [
        pytest.param(END_MS + 8_000, END_MS + 8_001, False, id="both ways end beside it"),
        pytest.param(END_MS + 8_001, END_MS + 8_002, True, id="both ways have ended"),
        pytest.param(1_000, END_MS, False, id="it ends with the call"),
        pytest.param(1_000, END_MS - 1, True, id="it ends before"),
    ],
)
def test_a_failure_near_a_pause_of_its_process_may_leave_no_copy(from_ms: int, until_ms: int, expected: bool) -> None:
    """Requests of a process that stands still run out."""
    story = Story()
    story.candidate.members[0]["pauses"] = [{"from_ns": ns(from_ms), "until_ns": ns(until_ms)}]
    assert is_certain(story) is expected


def leaves(**life: Any) -> Story:
    story = Story()
    story.candidate.members[0] |= life
    return story


def gives_up(at_ms: float) -> Story:
    story = Story()
    story.candidate.own(at_ms, "a", "A", "B")
    story.candidate.owned.sort(key=lambda row: row["at_ns"])
    return story


NOT_LEFT = {"leave_start_ns": None, "leave_end_ns": None}


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        pytest.param(leaves(), False, id="stays"),
        pytest.param(leaves(leave_start_ns=ns(END_MS + 8_000)), False, id="leaves eight seconds later"),
        pytest.param(leaves(leave_start_ns=ns(END_MS + 7_999)), True, id="leaves sooner"),
        pytest.param(leaves(killed_ns=ns(END_MS + 8_000), ended="killed", **NOT_LEFT), False, id="is killed"),
        pytest.param(leaves(killed_ns=ns(END_MS + 7_999), ended="killed", **NOT_LEFT), True, id="is killed sooner"),
        pytest.param(leaves(ended="died", **NOT_LEFT), True, id="dies at an unknown instant"),
        pytest.param(gives_up(END_MS + 8_000), False, id="gives its queue up"),
        pytest.param(gives_up(END_MS + 7_999), True, id="gives its queue up sooner"),
    ],
)
def test_a_failure_before_the_end_may_be_lost(story: Story, expected: bool) -> None:
    """The member may throw the result away, eight seconds before it goes or gives the queue up."""
    assert may_be_lost(story) is expected


@pytest.mark.parametrize("after_ms", [7_999, 8_000])
def test_a_failure_before_the_first_leave_may_be_lost(after_ms: int) -> None:
    """Of any member of the group, after the feed."""
    story = Story(duration_ms=7_000)
    story.candidate.members.append(
        story.candidate.members[0]
        | {"member": 1, "leave_start_ns": ns(END_MS + after_ms), "leave_end_ns": ns(LEAVE_MS)}
    )
    assert may_be_lost(story) is (after_ms < 8_000)


@pytest.mark.parametrize(
    ("killed_ms", "expected"),
    [(None, False), (6_000, True), (5_999.999, False), (15_001, False), (15_000, True), (14_000, True)],
)
def test_a_copy_may_come_from_a_member_that_was_killed(killed_ms: float | None, expected: bool) -> None:
    """It was made at 14 s: from a second before its death, for lost records, to eight seconds after it, for a hand-back."""
    story = Story()
    if killed_ms is not None:
        story.candidate.members[0] |= {"killed_ns": ns(killed_ms), "ended": "killed", **NOT_LEFT}
    story.candidate.copy("waiting", 151, 1, store_timestamp_ms=wall(14_000))
    (copy,) = copies_by_send(group_of(story))[151]
    assert failures_of(story).may_be_unseen(copy) is expected


@pytest.mark.parametrize(("configured", "most"), [(None, 16), (-1, 16), (0, 0), (3, 3)])
def test_how_often_a_message_may_come_back(configured: int | None, most: int) -> None:
    """Sixteen times unless it is set."""
    story = Story(settings={} if configured is None else {"max_reconsume_times": configured})
    assert most_reconsume_times(group_of(story)) == failures_of(story).most == most


def test_a_failure_is_as_its_call() -> None:
    """With its count, broker and level; copies of others' messages are left out."""
    story = Story()
    story.candidate.copy("waiting", 1, 1)
    story.candidate.returned[-1]["send"] = None
    failure = failures_of(story).of(group_of(story).by_send[FAILED][0])
    assert (failure.times, failure.broker, failure.level) == (0, BROKERS[1], 1)
    assert set(copies_by_send(group_of(story))) == set(range(0, 200, 7))
    assert copies_by_send(replace(group_of(story), returned=None)) == {}
