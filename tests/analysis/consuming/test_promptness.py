"""When messages that arrive in calm count as late, and when as later than the other group's, at each limit."""

import pytest

from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.core.units import NS_PER_S
from tests.analysis.consuming.group_story import EVERY_MS, Group, Story, ns, starved

LATE, MORE_OFTEN = "promptness.late", "promptness.more-often-late"
SECOND = 1_000 // EVERY_MS
"""Messages of a second, of which the first is delayed."""


def delay(group: Group, send: int, late_ms: float) -> None:
    """The first call with a message begins so long after it was stored."""
    call = group.calls_of(send)[0]
    call["start_ns"], call["end_ns"] = ns(send * EVERY_MS + late_ms), ns(send * EVERY_MS + late_ms + 1)


def signatures(story: Story) -> list[tuple[str, str]]:
    return [(fact.arm, fact.signature) for fact in differences(story)]


def differences(story: Story) -> list[DifferenceFact]:
    for group in (story.baseline, story.candidate):
        group.members[0] |= {"join_start_ns": ns(-120_000), "join_end_ns": ns(-119_900)}
    return story.differences("promptness")


@pytest.mark.parametrize(
    ("seconds", "late_ms", "others", "other_ms", "accused"),
    [
        pytest.param(11, 251, 0, 0, True, id="eleven seconds"),
        pytest.param(10, 251, 0, 0, False, id="ten may be chance"),
        pytest.param(11, 250, 0, 0, False, id="within what a user notices"),
        pytest.param(14, 251, 1, 251, True, id="fourteen to one"),
        pytest.param(13, 251, 1, 251, False, id="thirteen to one"),
        pytest.param(11, 251, 4, 250, True, id="the others within what a user notices"),
        pytest.param(11, 251, -11, 250, True, id="the same seconds within what a user notices"),
        pytest.param(11, 251, -1, None, False, id="ten that both groups have"),
    ],
)
@pytest.mark.parametrize("arm", ["baseline", "candidate"])
def test_seconds_with_a_late_message_are_compared(
    arm: str, seconds: int, late_ms: float, others: int, other_ms: float | None, accused: bool
) -> None:
    """
    At a chance of one in a thousand; in both directions.

    others: seconds after them, or of them if below 0, in which the other group's are late, or None for not there.
    """
    story = Story()
    slow, other = (story.baseline, story.candidate) if arm == "baseline" else (story.candidate, story.baseline)
    for second in range(2, 2 + seconds):
        delay(slow, second * SECOND, late_ms)
    for second in range(2 + seconds + min(0, others), 2 + seconds + max(0, others)):
        if other_ms is not None:
            delay(other, second * SECOND, other_ms)
        if others > 0:
            delay(slow, second * SECOND, 250)
        for send in () if other_ms is not None else range(second * SECOND, (second + 1) * SECOND):
            other.drop(send)
    found = differences(story)
    assert [(fact.arm, fact.signature) for fact in found] == [(arm, MORE_OFTEN)] * accused
    assert all(fact.at_ns == ns(2_000) // NS_PER_S * NS_PER_S for fact in found)


def test_seconds_in_which_both_groups_are_late_do_not_count() -> None:
    """The machine was busy."""
    story = Story()
    for group in (story.baseline, story.candidate):
        for second in range(2, 18):
            delay(group, second * SECOND, 300)
    assert signatures(story) == []


def test_a_second_counts_once() -> None:
    """Six seconds with two late messages each are no more than six."""
    story = Story()
    for second in range(2, 8):
        delay(story.candidate, second * SECOND, 300)
        delay(story.candidate, second * SECOND + 1, 300)
    assert signatures(story) == []


@pytest.mark.parametrize(("late_ms", "accused"), [(350, False), (351, True)])
def test_the_interval_between_pulls_is_no_lateness(late_ms: float, accused: bool) -> None:
    """A user has set it."""
    story = Story(settings={"pull_interval_ms": 100})
    for second in range(2, 13):
        delay(story.candidate, second * SECOND, late_ms)
    assert signatures(story) == [("candidate", MORE_OFTEN)] * accused


@pytest.mark.parametrize(("late_ms", "accused"), [(551, True), (550, False)])
def test_lateness_of_a_starved_process_does_not_count(late_ms: float, accused: bool) -> None:
    """Its threads waited for a core, which explains 300 ms."""
    story = Story(resources=starved(300))
    for second in range(2, 13):
        delay(story.candidate, second * SECOND, late_ms)
    assert signatures(story) == [("candidate", MORE_OFTEN)] * accused


@pytest.mark.parametrize(("late_ms", "accused"), [(6_300, False), (6_301, True)])
def test_a_starved_process_may_get_one_message_later(late_ms: float, accused: bool) -> None:
    """The latest is the one that is latest beside what starvation explains."""
    story = Story(resources=starved(300))
    delay(story.candidate, 5 * SECOND, late_ms)
    assert signatures(story) == [("candidate", LATE)] * accused


@pytest.mark.parametrize(
    ("late_ms", "stall_ms", "interval_ms", "accused"),
    [
        (6_000, 0, 0, False),
        (6_001, 0, 0, True),
        (6_500, 500, 0, False),
        (6_501, 500, 0, True),
        (6_700, 0, 700, False),
        (6_701, 0, 700, True),
    ],
)
def test_one_message_is_late_after_the_brokers_look(
    late_ms: float, stall_ms: int, interval_ms: int, accused: bool
) -> None:
    """Five seconds, what a busy machine and its stalls add, and the interval between pulls."""
    story = Story(stall_ms=stall_ms, settings={"pull_interval_ms": interval_ms})
    delay(story.candidate, 5 * SECOND, late_ms)
    assert signatures(story) == [("candidate", LATE)] * accused


def test_a_late_message_is_described() -> None:
    """With the limit, and how long it took, from when it was stored."""
    story = Story()
    delay(story.candidate, 5 * SECOND, 6_700)
    (fact,) = differences(story)
    assert fact.expected == "message 50, for which its member waited, within 6.0 s"
    assert (fact.observed, fact.at_ns) == ("6.7 s", ns(5_000))


@pytest.mark.parametrize(("at_ms", "accused"), [(4_000, False), (5_900, False), (5_901, True), (10_000, True)])
def test_calm_ends_two_seconds_before_a_fault(at_ms: int, accused: bool) -> None:
    """A message stored at 3,900 ms, whichever broker is paused."""
    story = Story(pauses=((at_ms, 500),))
    delay(story.candidate, 39, 7_000)
    assert (("candidate", LATE) in signatures(story)) is accused


@pytest.mark.parametrize(("since_ms", "accused"), [(-3_500, False), (-3_501, True)])
def test_calm_begins_two_seconds_after_a_change_of_members(since_ms: float, accused: bool) -> None:
    """Which may take 1.5 s, and five on a busy machine: a message stored at 5,000 ms."""
    story = Story()
    delay(story.candidate, 50, 7_000)
    differences(story)
    story.candidate.members[0]["join_end_ns"] = ns(since_ms)
    assert [fact.signature for fact in story.differences("promptness")] == [LATE] * accused


def test_a_message_that_is_not_held_is_not_awaited() -> None:
    """When it was stored is not known."""
    story = Story()
    story.candidate.deliver(201, 12_000)
    assert signatures(story) == []


@pytest.mark.parametrize(("before_ms", "accused"), [(200, True), (200.001, False)])
def test_a_message_waits_when_the_one_before_it_was_delivered(before_ms: float, accused: bool) -> None:
    """At the instant when it is stored, or before."""
    story = Story()
    delay(story.candidate, 50, before_ms)
    delay(story.candidate, 52, 7_000)
    assert signatures(story) == [("candidate", LATE)] * accused


@pytest.mark.parametrize(
    ("is_orderly", "end_ms", "accused"),
    [(False, 12_000, True), (True, 12_000, False), (True, 5_200, True), (True, 5_200.001, False), (True, None, False)],
)
def test_in_order_a_message_waits_for_the_one_before_it(is_orderly: bool, end_ms: float | None, accused: bool) -> None:
    """Which has been delivered, and is worked on until then."""
    story = Story(is_orderly=is_orderly)
    story.candidate.calls_of(50)[0]["end_ns"] = None if end_ms is None else ns(end_ms)
    delay(story.candidate, 52, 7_000)
    assert signatures(story) == [("candidate", LATE)] * accused
