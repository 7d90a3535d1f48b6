"""How long queues that change their owner stand still, by spells of changes."""

from collections.abc import Callable
from typing import Any

import pytest

from rocketdiff.analysis.facts import OutageValue
from rocketdiff.analysis.registry import judge_case
from rocketdiff.core.answers.evidence import Ending, Standing
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.plan import MemberChange, MemberEvent
from tests.analysis.consuming.group_story import LEAVE_MS, Group, Story, ns
from tests.analysis.synthetic import MS

Change = Callable[[Group], None]

EQUAL_MS = 1_500 + 1_500 + 500
"""A notified round, a first pull, and a burst of work."""


def values(story: Story) -> list[tuple[int, float, int, str]]:
    """Episode, value in ms, queues that have begun, and how it ended, of the candidate."""
    facts = (each.fact for each in judge_case(story.trace(), wanted={"takeover-time"}))
    found = [fact for fact in facts if isinstance(fact, OutageValue) and fact.arm == Arm.CANDIDATE]
    return [(each.episode, each.value_ns / MS, each.n, each.ended) for each in found]


def case(*changes: Change, **story: Any) -> Story:
    made = Story(checks=("takeover-time",), **story)
    for change in changes:
        change(made.candidate)
    return made


def joins(at_ms: float, begun_ms: float | None, member: int = 1, **life: Any) -> Change:
    """A member joins, which has to take broker-b's queue, and delivers the first of its messages."""

    def change(group: Group) -> None:
        times = {"join_start_ns": ns(at_ms), "join_end_ns": ns(at_ms + 100)}
        group.members.append(group.members[0] | {"member": member, "client_id": f"m{member}"} | times | life)
        for send in range(101, 200, 2):
            group.drop(send)
        if begun_ms is not None:
            group.deliver(101, begun_ms, member=member)

    return change


def is_there_since(at_ms: float) -> Change:
    return lambda group: group.members[0].update(join_start_ns=ns(at_ms), join_end_ns=ns(at_ms))


def leaves(at_ms: float, member: int = 1, **life: Any) -> Change:
    def change(group: Group) -> None:
        group.members[member] |= {"leave_start_ns": ns(at_ms), "leave_end_ns": ns(at_ms + 20)} | life

    return change


def also(at_ms: float, send: int, member: int = 0) -> Change:
    return lambda group: group.deliver(send, at_ms, member=member)


def reports_no_retry_rounds(group: Group) -> None:
    group.allocations = [row for row in group.allocations if row["kind"] == "fed"]


BEGUN, OPEN = Ending.FAILOVER, Ending.OPEN


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        pytest.param(case(), [], id="no change"),
        pytest.param(case(joins(10_050, 12_000)), [(0, EQUAL_MS, 1, BEGUN)], id="soon"),
        pytest.param(case(joins(10_050, 12_000), stall_ms=600), [(0, EQUAL_MS + 700, 1, BEGUN)], id="soon on a machine that stalls"),
        pytest.param(case(joins(10_050, 10_050 + EQUAL_MS + 1)), [(0, EQUAL_MS + 1, 1, BEGUN)], id="later"),
        pytest.param(case(joins(10_050, None)), [(0, LEAVE_MS - 10_050, 0, OPEN)], id="not at all"),
        pytest.param(case(joins(10_050, 12_000), is_orderly=True), [(0, EQUAL_MS + 1_500, 1, BEGUN)], id="with locks"),
        pytest.param(
            case(joins(10_050, 16_000), leaves(18_000, killed_ns=ns(18_000)), is_orderly=True, duration_ms=15_000),
            [(0, EQUAL_MS + 61_000, 1, BEGUN)],
            id="with locks of a member that is killed",
        ),
        pytest.param(case(joins(0, 12_000)), [], id="as the feed begins"),
        pytest.param(case(joins(0.001, 12_000)), [(0, 11_999.999, 1, BEGUN)], id="in the feed"),
        pytest.param(case(joins(10_050, 12_000), duration_ms=10_050), [], id="as it ends"),
        pytest.param(case(joins(10_050, 12_000, client_id=None)), [], id="an unknown id"),
        pytest.param(case(joins(10_050, 12_000), pauses=((13_100, 9),)), [], id="beside a fault"),
        pytest.param(case(joins(10_050, 14_000), also(15_000, 103, 1), pauses=((15_051, 9),)), [(0, 3_950, 1, BEGUN)], id="before a fault"),
        pytest.param(
            case(joins(10_050, 12_000), leaves(14_000), also(19_000, 103)),
            [(0, EQUAL_MS, 1, BEGUN), (1, 5_000, 1, BEGUN)],
            id="comes and goes",
        ),
        pytest.param(
            case(joins(10_050, 14_000), leaves(14_000), also(19_000, 103)),
            [(0, 3_950, 0, OPEN), (1, 5_000, 1, BEGUN)],
            id="begins as it goes",
        ),
        pytest.param(case(joins(10_050, None), leaves(13_050), also(19_000, 103)), [], id="comes and goes together"),
        pytest.param(
            case(joins(10_050, None), leaves(13_051), also(19_000, 103)),
            [(0, EQUAL_MS, 0, OPEN), (1, 5_949, 1, BEGUN)],
            id="three seconds apart",
        ),
        pytest.param(case(is_there_since(10_050)), [], id="nobody was there before"),
        pytest.param(
            case(joins(5_050, 6_000), leaves(14_000), also(19_000, 103), pauses=((5_100, 9),)), [(1, 5_000, 1, BEGUN)], id="the first one beside a fault"
        ),
        pytest.param(case(joins(10_050, 10_049)), [(0, LEAVE_MS - 10_050, 0, OPEN)], id="before it joins"),
        pytest.param(case(joins(10_050, 10_050)), [(0, EQUAL_MS, 1, BEGUN)], id="as it joins"),
        pytest.param(case(joins(10_050, 19_000), also(16_000, 103, 1)), [(0, 5_950, 1, BEGUN)], id="its first message"),
        pytest.param(
            case(joins(10_050, 16_000), joins(12_000, None, member=2)), [(0, LEAVE_MS - 10_050, 0, OPEN)], id="two together"
        ),
        pytest.param(
            case(joins(10_050, None, client_id="a"), joins(10_050, 13_000, 2, client_id="b"), also(16_000, 102, 1)),
            [(0, 5_950, 2, BEGUN)],
            id="the later of two queues",
        ),
        pytest.param(
            case(joins(0, None), joins(1_000, None, 2, client_id="a")), [(0, LEAVE_MS - 1_000, 1, OPEN)], id="soon after the feed begins"
        ),
        pytest.param(
            case(joins(10_050, 12_000), reports_no_retry_rounds), [(0, EQUAL_MS, 1, BEGUN)], id="without rounds of the retry topic"
        ),
    ],
)  # fmt: skip
def test_queues_that_change_their_owner(story: Story, expected: list[tuple[int, float, int, str]]) -> None:
    """From the first change to the last queue's first message at its new owner; what is allowed counts as equal."""
    assert values(story) == expected


def test_owners_by_a_strategy_of_the_application_are_not_known() -> None:
    """The rules do not have it."""
    made = case(joins(10_050, 12_000))
    for row in made.baseline.allocations:
        row["strategy"] = "of-acme"
    assert values(made) == []


def test_another_life_of_the_owner_does_not_count() -> None:
    """The owner is one incarnation of a member."""

    def change(group: Group) -> None:
        joins(10_050, 15_000)(group)
        group.calls[-1]["incarnation"] = 2

    assert values(case(change)) == [(0, LEAVE_MS - 10_050, 0, OPEN)]


@pytest.mark.parametrize(("took_ms", "is_beyond"), [(EQUAL_MS * 1.5, False), (EQUAL_MS * 1.5 + 1, True)])
def test_half_more_than_the_limit_counts_as_equal(took_ms: float, is_beyond: bool) -> None:
    """After a member's coming and its going the baseline's queue goes on in time."""
    events = tuple(MemberEvent(1.0, 1, change) for change in (MemberChange.JOIN, MemberChange.LEAVE))
    made = case(joins(10_050, 10_050 + took_ms), leaves(16_000), also(16_000 + took_ms, 103), membership=events)
    for change in (joins(10_050, 12_000), leaves(16_000), also(17_000, 103)):
        change(made.baseline)
    samples = [sample for each in made.analysis().evidence for sample in each.samples]
    assert [(each.name, each.points_beyond()) for each in samples] == [("last-queue", is_beyond)]


@pytest.mark.parametrize(
    ("events", "standing", "reason"),
    [
        ((), Standing.NOT_APPLICABLE, "no member came or went in this case"),
        ((MemberChange.PAUSE,), Standing.NOT_APPLICABLE, "no member came or went in this case"),
        ((MemberChange.PAUSE, MemberChange.JOIN), Standing.INDECISIVE, None),
    ],
)
def test_a_case_without_changes_of_members_is_not_asked(
    events: tuple[MemberChange, ...], standing: Standing, reason: str | None
) -> None:
    """As its scenario says; and in the pool it is not counted."""
    made = case(membership=tuple(MemberEvent(1.0, 0, change) for change in events))
    found = [each for each in made.analysis().evidence if each.check == "takeover-time"]
    assert (found[0].standing, reason or found[0].reason) == (standing, found[0].reason)
    assert len(found) == (1 if reason else 2)
