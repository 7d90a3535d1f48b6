"""How much of a queue a member may hold, and how soon it goes on, at each limit."""

from collections.abc import Sequence

import pytest

from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.core.answers.evidence import Standing
from tests.analysis.consuming.group_story import (
    BROKERS,
    EVERY_MS,
    Group,
    Story,
    differences_of,
    differences_without_messages,
    ns,
)

EXCEEDED, STANDS_STILL = "flow-control.exceeded", "flow-control.stands-still"


def signatures(story: Story) -> list[str]:
    return [fact.signature for fact in differences(story)]


def differences(story: Story) -> list[DifferenceFact]:
    return story.differences("flow-control")


def hold(group: Group, *offsets: int) -> None:
    """Calls with these messages of broker-a's queue end at 15 s."""
    for offset in offsets:
        group.calls_of(2 * offset)[0]["end_ns"] = ns(15_000)


@pytest.mark.parametrize(
    ("settings", "held", "expected"),
    [
        ({"pull_threshold_for_queue": 3, "pull_batch_size": 2}, 4, []),
        ({"pull_threshold_for_queue": 3, "pull_batch_size": 2}, 5, [EXCEEDED]),
        ({"pull_threshold_for_queue": 3}, 34, []),
        ({"pull_threshold_for_queue": 3}, 35, [EXCEEDED]),
        ({}, 60, []),
    ],
)
def test_calls_at_once(settings: dict[str, int | str], held: int, expected: list[str]) -> None:
    """As many as the threshold and one batch, with the call that begins."""
    story = Story(settings=settings)
    hold(story.candidate, *range(1, 1 + held))
    assert signatures(story) == expected


@pytest.mark.parametrize(
    ("settings", "held", "pulled", "is_orderly", "expected"),
    [
        ({"pull_threshold_for_queue": 3}, (11, 12, 13), {}, False, []),
        ({"pull_threshold_for_queue": 3}, (11, 12, 13, 14), {}, False, [EXCEEDED]),
        ({"pull_threshold_for_queue": 3}, (11, 12, 13, 14), {"member": 1}, False, []),
        ({"pull_threshold_for_queue": 3}, (11, 12, 13, 14), {"broker": BROKERS[1]}, False, []),
        ({"consume_concurrently_max_span": 10}, (11, 21), {}, False, []),
        ({"consume_concurrently_max_span": 10}, (11, 22), {}, False, [EXCEEDED]),
        ({"consume_concurrently_max_span": 10}, (11, 15, 22), {}, False, [EXCEEDED]),
        ({"consume_concurrently_max_span": 10}, (11, 22), {}, True, []),
    ],
)
def test_a_member_pulls_with_unfinished_messages(
    settings: dict[str, int | str],
    held: tuple[int, ...],
    pulled: dict[str, object],
    is_orderly: bool,
    expected: list[str],
) -> None:
    """Its own unfinished messages of the queue: their number, and, unless it consumes in order, their span."""
    story = Story(settings=settings, is_orderly=is_orderly)
    hold(story.candidate, *held)
    story.candidate.pull(9_950, BROKERS[0], 50).update(pulled)
    found = differences(story)
    assert [fact.signature for fact in found] == expected
    assert all((fact.send, fact.at_ns) == (2 * held[-1], ns(9_950)) for fact in found)
    words = f"one with {len(held)}" if "pull_threshold_for_queue" in settings else f"one with {held[0]} and {held[-1]}"
    assert all(fact.observed == words for fact in found)


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        (range(1_000), []),
        (range(1_001), [EXCEEDED]),
        ((0, 2_000), []),
        ((0, 2_001), [EXCEEDED]),
    ],
)
def test_a_member_without_settings_has_the_limits_of_every_release(offsets: Sequence[int], expected: list[str]) -> None:
    """A thousand messages, and two thousand offsets from the first to the last: of one call, with a pull beside it."""

    def change(group: Group) -> None:
        group.deliver(0, 2_000, end_ns=ns(4_000))
        row = group.deliveries.pop()
        group.deliveries = [row | {"queue_offset": each, "send": 2 * each, "place": each} for each in offsets]
        group.pull(3_000, BROKERS[0], 50)

    assert [fact.signature for fact in differences_without_messages("flow-control", change)] == expected


@pytest.mark.parametrize(("at_ms", "expected"), [(2_202, []), (2_203, [EXCEEDED]), (15_000, [])])
def test_a_message_is_held_while_its_call_lasts(at_ms: float, expected: list[str]) -> None:
    """From just after its beginning, here at 2,202 ms, to its end."""
    story = Story(settings={"pull_threshold_for_queue": 1, "pull_batch_size": 100})
    hold(story.candidate, 10, 11)
    story.candidate.pull(at_ms, BROKERS[0], 50)
    assert signatures(story) == expected


@pytest.mark.parametrize(("given_up_ms", "expected"), [(9_000, [EXCEEDED]), (2_500, [])])
def test_a_call_that_never_ends_counts_while_its_queue_is_the_members(given_up_ms: float, expected: list[str]) -> None:
    """The pull at 3 s is of another work on the queue, if the member has given it up before."""
    story = Story(settings={"pull_threshold_for_queue": 1, "pull_batch_size": 100})
    for offset in (10, 11):
        story.candidate.calls_of(2 * offset)[0] |= {"end_ns": None, "result": None}
    story.candidate.own(given_up_ms, "b", "A", "B")
    story.candidate.pull(3_000, BROKERS[0], 50)
    assert signatures(story) == expected


def test_messages_that_were_fed_are_judged() -> None:
    """All 200 of each group, and no retries."""
    (found,) = (each for each in Story(checks=("flow-control",)).analysis().evidence if each.check == "flow-control")
    assert (found.standing, found.decisions) == (Standing.DECISIVE, 400)


@pytest.mark.parametrize(
    ("late_ms", "interval_ms", "pauses", "expected"),
    [
        (10_000, 0, (), []),
        (10_001, 0, (), [STANDS_STILL]),
        (10_700, 700, (), []),
        (10_701, 700, (), [STANDS_STILL]),
        (10_001, 0, ((6_000, 500),), []),
        (10_001, 0, ((15_102, 500),), [STANDS_STILL]),
    ],
)
def test_a_member_that_holds_nothing_goes_on(
    late_ms: float, interval_ms: int, pauses: tuple[tuple[int, int], ...], expected: list[str]
) -> None:
    """The broker's look, a busy machine, and the interval between pulls; a fault explains any wait."""
    story = Story(settings={"pull_interval_ms": interval_ms}, pauses=pauses)
    call = story.candidate.calls_of(51)[0]
    call["start_ns"], call["end_ns"] = ns(51 * EVERY_MS + late_ms), ns(51 * EVERY_MS + late_ms + 1)
    assert signatures(story) == expected


@pytest.mark.parametrize(("late_ms", "expected"), [(10_000, []), (10_001, [(STANDS_STILL, "10.0 s later")])])
def test_a_member_that_takes_a_queue_begins_to_pull_it(late_ms: float, expected: list[tuple[str, str]]) -> None:
    """Within 1.5 s, from which on a message is due that was stored before."""

    def change(group: Group) -> None:
        for send in range(53, 100, 2):
            group.drop(send)
        group.own(5_050, "a", "A", "B")
        group.offset("query", 10_000, BROKERS[1], 25)
        group.own(10_000, "a", "b", "A", "B")
        begun_ns = ns(10_000 + 1_500 + late_ms)
        group.calls_of(51)[0].update(start_ns=begun_ns, end_ns=begun_ns + 1)

    assert [(fact.signature, fact.observed) for fact in differences_of("flow-control", change)] == expected


def test_a_message_is_due_when_all_before_it_are_finished() -> None:
    """A call that ends at 15 s makes the next message due then."""
    story = Story()
    story.candidate.calls_of(51)[0]["end_ns"] = ns(15_000)
    call = story.candidate.calls_of(53)[0]
    call["start_ns"], call["end_ns"] = ns(16_000), ns(16_001)
    assert signatures(story) == []
