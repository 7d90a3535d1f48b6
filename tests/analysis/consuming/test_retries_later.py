"""When failed messages come back later in one group than in the other, at each limit."""

import pytest

from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.analysis.registry import judge_case
from rocketdiff.core.units import NS_PER_MS
from tests.analysis.consuming.group_story import COUNT, EVERY_MS, Group, Story, ns

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
