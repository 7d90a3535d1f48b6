"""Until when after a fault of a broker the work on its queues goes on in time."""

import pytest

from rocketdiff.analysis.facts import OutageValue
from rocketdiff.analysis.registry import judge_case
from tests.analysis.consuming.group_story import Story, fault_row, ns


def values_ms(story: Story) -> list[float]:
    facts = (each.fact for each in judge_case(story.trace()))
    return [fact.value_ns / 1e6 for fact in facts if isinstance(fact, OutageValue)]


def paused(stall_ms: int = 0) -> Story:
    """Broker-b resumes at 7,500 ms, and stores a message every 200 ms from then on."""
    return Story(pauses=((6_000, 1_500),), stall_ms=stall_ms)


def with_one_message_more() -> Story:
    """After its resume the broker stores one message."""
    story = paused()
    late = [row["send"] for row in story.held if row["send"] % 2 and row["send"] > 76]
    story.held = [row for row in story.held if row["send"] not in late]
    for group in (story.baseline, story.candidate):
        for send in late:
            group.drop(send)
    return story


def with_another_member() -> Story:
    """A member joins one group while the broker is paused; it may get the queue after both have asked every broker."""
    story = paused()
    joined = {"member": 1, "join_start_ns": ns(6_200), "join_end_ns": ns(6_300)}
    story.baseline.members.append(story.baseline.members[0] | joined)
    return story


def killed() -> Story:
    """A member of 5.3.3 heartbeats within 1 s when it connects anew, pulls 1 s after a failure, and waits for one look."""
    return Story(pauses=((2_000, 500),), faults=[fault_row("broker-b", 6_000, 1_500, is_kill=True, episode=1)])


ROWS = {
    "the second message of a queue is noticed": (paused(), 200 + 500),
    "the broker and the client wait for a core": (paused(stall_ms=600), 200 + 2 * 600),
    "a message alone waits for the broker's look": (with_one_message_more(), 5_000 + 500),
    "a member asks for a paused broker's queues": (
        with_another_member(),
        3_000 + 2 * 5_000 + 20_000 + 1_500 + 1_500 + 5_000 + 500,
    ),
}


@pytest.mark.parametrize(("story", "value_ms"), ROWS.values(), ids=ROWS.keys())
def test_a_delivery_in_time_has_the_value_of_the_limit(story: Story, value_ms: float) -> None:
    """Both groups get messages at once, and both have the time that rules and machine may take."""
    assert values_ms(story) == [value_ms, value_ms]


def test_a_killed_broker_has_its_own_window() -> None:
    """After a kill a member connects anew."""
    assert values_ms(killed())[2:] == [1_000 + 1_000 + 5_000 + 500] * 2
