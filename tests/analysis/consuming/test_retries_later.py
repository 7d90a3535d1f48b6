"""When failed messages come back later in one group than in the other, at each limit."""

import pytest

from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.analysis.registry import judge_case
from rocketdiff.core.units import NS_PER_MS
from tests.analysis.consuming.group_story import COUNT, EVERY_MS, Group, Story, ns, starved

FAILED = list({send * EVERY_MS // 1_000: send for send in range(14, COUNT - 14, 7)}.values())
"""One failed message of each second."""


def delay_retry(group: Group, send: int, late_ms: float) -> None:
    """The call with the copy begins so much later than a second after the message was stored."""
    call = group.calls_of(send)[1]
    call["start_ns"] += round(late_ms * NS_PER_MS)
    call["end_ns"] += round(late_ms * NS_PER_MS)


def signatures(story: Story) -> list[tuple[str, str]]:
    for group in (story.baseline, story.candidate):
        group.members[0] |= {"join_start_ns": ns(-120_000), "join_end_ns": ns(-119_900)}
    facts = (each.fact for each in judge_case(story.trace(), wanted={"retries"}))
    return [(fact.arm, fact.signature) for fact in facts if isinstance(fact, DifferenceFact)]


@pytest.mark.parametrize(
    ("seconds", "late_ms", "others", "other_ms", "accused"),
    [
        pytest.param(11, 501, 0, 0, True, id="eleven seconds"),
        pytest.param(10, 501, 0, 0, False, id="ten may be chance"),
        pytest.param(11, 500, 0, 0, False, id="within what both brokers' looks add"),
        pytest.param(13, 501, 1, 501, False, id="thirteen to one"),
        pytest.param(11, 501, 4, 500, True, id="the others within it"),
        pytest.param(11, 501, -11, 1, False, id="a millisecond less than the limit later"),
        pytest.param(11, 501, -1, None, False, id="ten that both groups have"),
    ],
)
@pytest.mark.parametrize("arm", ["baseline", "candidate"])
def test_seconds_with_a_late_retry_are_compared(
    arm: str, seconds: int, late_ms: float, others: int, other_ms: float | None, accused: bool
) -> None:
    """
    At a chance of one in a thousand; in both directions.

    others: seconds after them, or of them if below 0, in which the other group's are late, or None for not there.
    """
    story = Story()
    slow, other = (story.baseline, story.candidate) if arm == "baseline" else (story.candidate, story.baseline)
    for send in FAILED[:seconds]:
        delay_retry(slow, send, late_ms)
    for send in FAILED[seconds + min(0, others) : seconds + max(0, others)]:
        if other_ms is not None:
            delay_retry(other, send, other_ms)
        for each in () if other_ms is not None else range(send // 10 * 10, send // 10 * 10 + 10):
            other.drop(each)
            other.returned = [row for row in other.returned if row["send"] != each]
    assert signatures(story) == [(arm, "retries.later")] * accused


@pytest.mark.parametrize(("late_ms", "accused"), [(600, False), (601, True)])
def test_the_interval_between_pulls_is_no_lateness(late_ms: float, accused: bool) -> None:
    """A user has set 600 ms: 47 ms that both groups' retries take are explained too, and none is earlier than 0."""
    story = Story(settings={"pull_interval_ms": 600})
    for send in FAILED[:11]:
        delay_retry(story.candidate, send, late_ms + 500 - 47)
    assert signatures(story) == [("candidate", "retries.later")] * accused


@pytest.mark.parametrize(("late_ms", "accused"), [(800, False), (801, True)])
def test_lateness_of_a_starved_process_does_not_count(late_ms: float, accused: bool) -> None:
    """Its threads waited for a core, which explains 300 ms."""
    story = Story(resources=starved(300))
    for send in FAILED[:11]:
        delay_retry(story.candidate, send, late_ms)
    assert signatures(story) == [("candidate", "retries.later")] * accused


LAST_MS = FAILED[10] * EVERY_MS
"""When the last of eleven late retries was stored: its first call ends 3 ms later, and it comes back after 1,551 ms."""


def joins(at_ms: float) -> Story:
    """Another member joins the candidate, with which its rounds are over 6.5 s later."""
    story = Story()
    life = {
        "member": 1,
        "client_id": "m1",
        "join_start_ns": ns(at_ms),
        "join_end_ns": ns(at_ms),
        "leave_start_ns": None,
    }
    story.candidate.members.append(story.candidate.members[0] | life)
    return story


@pytest.mark.parametrize(
    ("story", "accused"),
    [
        pytest.param(Story(pauses=((LAST_MS + 8_003, 9),)), False, id="eight seconds before a fault"),
        pytest.param(Story(pauses=((LAST_MS + 8_004, 9),)), True, id="longer before it"),
        pytest.param(joins(LAST_MS + 3_551), False, id="two seconds before another joins"),
        pytest.param(joins(LAST_MS + 3_552), True, id="longer before it joins"),
        pytest.param(joins(FAILED[0] * EVERY_MS - 6_500), False, id="just after another joined"),
        pytest.param(joins(FAILED[0] * EVERY_MS - 6_501), True, id="longer after it"),
        pytest.param(Story(settings={"consume_thread_min": 1}), True, id="its thread is free"),
    ],
)
def test_late_retries_count_in_calm(story: Story, accused: bool) -> None:
    """With a thread for them."""
    for send in FAILED[:11]:
        delay_retry(story.candidate, send, 501)
    assert signatures(story) == [("candidate", "retries.later")] * accused


@pytest.mark.parametrize(("until_ms", "accused"), [(0, True), (1, False)])
def test_a_retry_that_is_due_while_its_thread_is_busy_is_not_compared(until_ms: float, accused: bool) -> None:
    """With the call of another message, until after the instant at which its delay is over."""
    story = Story(settings={"consume_thread_min": 1})
    for send in FAILED[:11]:
        delay_retry(story.candidate, send, 501)
    due_ms = FAILED[10] * EVERY_MS + 2 + 1 + 1_000
    (busy,) = (row for row in story.candidate.calls if row["start_ns"] == ns(due_ms - 1))
    busy["end_ns"] = ns(due_ms + until_ms)
    assert signatures(story) == [("candidate", "retries.later")] * accused


def test_later_retries_are_described() -> None:
    """With those of the first of the seconds, and in how many they are later."""
    story = Story()
    for group in (story.baseline, story.candidate):
        group.members[0] |= {"join_start_ns": ns(-120_000), "join_end_ns": ns(-119_900)}
    for send in FAILED[:11]:
        delay_retry(story.candidate, send, 600)
    (fact,) = story.differences("retries")
    assert fact.at_ns == ns(FAILED[0] * EVERY_MS // 1_000 * 1_000)
    assert fact.expected == "failed messages back as soon after their delays as the other group's: 47 ms"
    assert fact.observed == "647 ms; over 500 ms later in 11 of 20 seconds, sooner in 0"
