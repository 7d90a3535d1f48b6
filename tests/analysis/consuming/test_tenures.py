"""When a member works on a queue and where it begins, from looks at its queues and what it did with their offsets."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.consuming.story import GroupStory, QueueOf, Tenure, story_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from tests.analysis.consuming.group_story import BROKERS, LEAVE_MS, Group, Story, fault_row, ns
from tests.analysis.consuming.test_lite_pull import PolledStory
from tests.analysis.synthetic import MS

Change = Callable[[Group], None]


def group_of(change: Change, story: Story | None = None) -> GroupStory:
    made = Story() if story is None else story
    made.candidate.owned.clear()
    made.candidate.offsets.clear()
    change(made.candidate)
    return story_of(made.trace()).groups[Arm.CANDIDATE]


def ms(at_ns: int | None) -> float | None:
    return None if at_ns is None else (at_ns - ns(0)) / MS


def tenures(change: Change, story: Story | None = None) -> list[Tenure]:
    found = group_of(change, story).tenures
    return sorted((each for each in found if each.queue.broker == BROKERS[1]), key=lambda each: each.from_ns)


def rows(*events: tuple[Any, ...]) -> Change:
    """``own``: when, and the queues; else what of broker-b's offset, when and which value."""

    def change(group: Group) -> None:
        for what, at_ms, *values in events:
            if what == "own":
                group.own(at_ms, *values)
            else:
                group.offset(what, at_ms, BROKERS[1], *values)

    return change


OWNED = ("own", 1_000, "b")
OVER = ("own", 9_000)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(rows(OWNED, OVER), [(1_000, 9_000, None, None)], id="without a question"),
        pytest.param(rows(OWNED), [(1_000, None, None, None)], id="to the end"),
        pytest.param(rows(("own", 500), OWNED, ("own", 2_000, "b", "a"), OVER), [(1_000, 9_000, None, None)], id="looks"),
        pytest.param(rows(OWNED, OVER, ("own", 9_500, "b")), [(1_000, 9_000, None, None), (9_500, None, None, None)], id="twice"),
        pytest.param(rows(("query", 900, 5), OWNED, OVER), [(1_000, 9_000, 5, 900)], id="asked before"),
        pytest.param(rows(("query", 900, -1), OWNED, OVER), [(1_000, 9_000, -1, 900)], id="there is none"),
        pytest.param(rows(("query", 900, None), OWNED, OVER), [(1_000, 9_000, None, None)], id="without an answer"),
        pytest.param(rows(("query", 900, -2), OWNED, OVER), [(1_000, 9_000, None, None)], id="an answer that is an error"),
        pytest.param(rows(("query", 800, 4), ("query", 900, 5), OWNED, OVER), [(1_000, 9_000, 5, 900)], id="the last answer"),
        pytest.param(rows(("query", 1_040, 5), OWNED, OVER), [(1_000, 9_000, 5, 1_040)], id="asked within two looks"),
        pytest.param(rows(("query", 1_041, 5), OWNED, OVER), [(1_000, 1_041, None, None), (1_041, 9_000, 5, 1_041)], id="asked later"),
        pytest.param(
            rows(("query", 900, 5), ("query", 4_000, 6), OWNED, OVER), [(1_000, 4_000, 5, 900), (4_000, 9_000, 6, 4_000)], id="asked again"
        ),
        pytest.param(
            rows(("query", 900, 5), ("query", 8_960, 6), OWNED, OVER), [(1_000, 8_960, 5, 900), (8_960, 9_000, 6, 8_960)], id="again before the end"
        ),
        pytest.param(rows(("query", 900, 5), ("query", 8_961, 6), OWNED, OVER), [(1_000, 9_000, 5, 900)], id="for the next"),
        pytest.param(rows(("query", 900, 5), ("query", 8_961, 6), OWNED), [(1_000, 8_961, 5, 900), (8_961, None, 6, 8_961)], id="again at last"),
        pytest.param(
            rows(("query", 900, 5), ("query", 8_961, 6), OWNED, OVER, ("own", 9_001, "b")),
            [(1_000, 9_000, 5, 900), (9_001, None, 6, 8_961)],
            id="asked before the look at its end",
        ),
    ],
)  # fmt: skip
def test_a_queue_is_owned(change: Change, expected: list[tuple[float | None, ...]]) -> None:
    """From, until, first offset, and when its answer was seen."""
    found = tenures(change)
    assert [(ms(each.from_ns), ms(each.until_ns), each.first, ms(each.asked_ns)) for each in found] == expected


@pytest.mark.parametrize(
    ("story", "events", "begins"),
    [
        pytest.param(Story, (), [1_000, 4_000, 5_000], id="each question is a new beginning"),
        pytest.param(lambda: Story(is_orderly=True), (), [1_000], id="in order it asks on"),
        pytest.param(PolledStory, (), [1_000], id="one that polls asks on"),
        pytest.param(PolledStory, (("forget", 3_000, 0),), [1_000, 4_000], id="it had forgotten the offset"),
        pytest.param(PolledStory, (("forget", 4_500, 0),), [1_000, 5_000], id="it forgot it meanwhile"),
        pytest.param(PolledStory, (("forget", 900, 0),), [1_000], id="it had forgotten it when it asked first"),
        pytest.param(PolledStory, (("forget", 4_000, 0),), [1_000, 4_000], id="it forgot it as it asked"),
        pytest.param(PolledStory, (("forget", 6_000, 0),), [1_000], id="it forgot it later"),
    ],
)
def test_a_member_asks_again(story: Callable[[], Story], events: tuple[Any, ...], begins: list[float]) -> None:
    """Whether it has taken its queue anew, or looks where it goes on."""
    asked = (("query", 900, 5), ("query", 4_000, 6), ("query", 5_000, 7))
    found = tenures(rows(*asked, *events, OWNED, OVER), story())
    assert [ms(each.from_ns) for each in found] == begins
    assert found[-1].first == 7


def test_offsets_that_a_member_remembers() -> None:
    """From its question to its end, each in its tenure; commits and questions are none of it."""
    events = [("update", at_ms, at_ms) for at_ms in (899, 900, 3_999, 4_000, 9_000, 9_001)]
    found = tenures(rows(("query", 900, 5), ("query", 4_000, 6), ("commit", 2_000, 1), *events, OWNED, OVER))
    assert [[value for _, value in each.updates] for each in found] == [[900, 3_999, 4_000], [4_000, 9_000]]
    assert [ms(at_ns) for at_ns, _ in found[0].updates] == [900, 3_999, 4_000]


@pytest.mark.parametrize(("at_ms", "repaired"), [(899, [False, False]), (900, [True, False]), (8_000, [False, True])])
def test_a_client_that_corrects_an_offset(at_ms: float, repaired: list[bool]) -> None:
    """In its tenure."""
    found = tenures(rows(("query", 900, 5), ("query", 4_000, 6), ("freeze", at_ms, 1), OWNED, OVER))
    assert [each.is_repaired for each in found] == repaired


def test_a_member_that_was_killed_works_on_nothing() -> None:
    """From then on, and its next life has tenures of its own."""

    def change(group: Group) -> None:
        rows(OWNED)(group)
        group.members.append(group.members[0] | {"incarnation": 2, "join_start_ns": ns(6_000)})
        group.members[0] |= {"killed_ns": ns(5_000), "leave_start_ns": None, "ended": "killed"}
        group.own(7_000, "b")
        group.owned[-1]["incarnation"] = 2
        group.own(7_000, "b", member=1)

    found = tenures(change)
    assert [(each.member, each.incarnation, ms(each.from_ns), ms(each.until_ns)) for each in found] == [
        (0, 1, 1_000, 5_000),
        (0, 2, 7_000, None),
        (1, 1, 7_000, None),
    ]


@pytest.mark.parametrize(
    ("asked", "begin_ms"), [((), 960), ((("query", 900, 5),), 900), ((("query", 1_030, 5),), 1_000)]
)
def test_the_first_delivery_of_a_tenure(asked: tuple[Any, ...], begin_ms: float) -> None:
    """As soon as the answer was there, else two looks before the queue was seen."""
    (found,) = tenures(rows(*asked, OWNED, OVER))
    assert ms(found.begin_ns) == begin_ms
    assert [found.covers(ns(at_ms)) for at_ms in (999, 1_000, 8_999, 9_000)] == [False, True, True, False]


def test_tenures_within_a_time() -> None:
    """The latest first; one that ended just then, or begins just then, too."""
    taken = rows(OWNED, ("own", 2_000), ("own", 3_000, "b"), ("own", 4_000), ("own", 5_000, "b"))
    group = group_of(taken)
    (queue,) = {each.queue for each in group.tenures}
    for from_ms, to_ms, expected in (
        (0, 959, []),
        (0, 960, [1_000]),
        (2_000, 2_100, [1_000]),
        (2_001, 2_100, []),
        (2_000, 2_960, [3_000, 1_000]),
        (4_000, 9_000, [5_000, 3_000]),
        (4_001, 9_000, [5_000]),
    ):
        assert [ms(each.from_ns) for each in group.tenures_within(queue, ns(from_ms), ns(to_ms))] == expected


@pytest.mark.parametrize(
    ("life", "until_ms"),
    [
        ({}, 9_000),
        ({"leave_start_ns": ns(8_000)}, 8_000),
        ({"leave_start_ns": None}, 9_000),
        ({"killed_ns": ns(7_000), "leave_start_ns": None}, 7_000),
    ],
)
def test_a_tenure_is_over(life: dict[str, Any], until_ms: float) -> None:
    """When the queue is given up, or its member begins to go; what it was killed in ends then."""

    def change(group: Group) -> None:
        rows(OWNED, OVER)(group)
        group.members[0] |= life

    group = group_of(change)
    (tenure,) = group.tenures
    assert ms(group.over_ns(tenure)) == until_ms
    assert ms(group.killed_in(tenure)) == (7_000 if "killed_ns" in life else None)


def test_a_member_that_was_killed_later_had_given_the_queue_up() -> None:
    """It is not killed in that tenure."""

    def change(group: Group) -> None:
        rows(OWNED, OVER)(group)
        group.members[0] |= {"killed_ns": ns(9_001), "leave_start_ns": None}

    group = group_of(change)
    assert group.killed_in(group.tenures[0]) is None


def test_the_end_of_the_watch() -> None:
    """The last answer, leave or call, whichever is last."""
    assert ms(group_of(rows()).watched_until_ns) == LEAVE_MS + 500
    assert ms(group_of(lambda group: group.committed.clear()).watched_until_ns) == LEAVE_MS

    def ends_later(group: Group) -> None:
        group.calls[0]["end_ns"] = ns(50_000)

    assert ms(group_of(ends_later).watched_until_ns) == 50_000


@pytest.mark.parametrize(
    ("fed_ms", "first_ms"), [(20_000, LEAVE_MS), (LEAVE_MS, LEAVE_MS), (LEAVE_MS + 1, LEAVE_MS + 500)]
)
def test_the_first_leave_after_the_feed(fed_ms: int, first_ms: float) -> None:
    """Or the end of the watch."""
    assert ms(group_of(rows(), Story(duration_ms=fed_ms)).first_leave_ns) == first_ms


def test_deliveries_after_a_heal() -> None:
    """From the fed queues of the broker, since its heal began; none without one."""
    healed, other = (story_of(Story(faults=[row]).trace()) for row in
                     (fault_row(BROKERS[1], 18_000, 1_302), fault_row(BROKERS[1], 18_000, 9) | {"heal_ns": None}))  # fmt: skip
    group = healed.groups[Arm.CANDIDATE]
    assert [ms(at_ns) for at_ns in group.starts_after(healed.trace.faults[0])] == [19_302, 19_502, 19_702, 19_902]
    assert group.starts_after(other.trace.faults[0]) == []
    assert {each.queue.kind for each in group.deliveries} == {TopicKind.FED, TopicKind.RETRY}


@pytest.mark.parametrize(
    ("is_orderly", "most", "times", "result", "holds_up"),
    [
        (True, None, 99, "later", True),
        (True, -1, 99, "later", True),
        (True, 2, 1, "later", True),
        (True, 2, 2, "later", False),
        (True, 2, 1, "success", False),
        (False, None, 0, "later", False),
    ],
)
def test_a_failed_message_holds_its_queue_up(
    is_orderly: bool, most: int | None, times: int, result: str, holds_up: bool
) -> None:
    """In order, until it has failed too often."""
    story = Story(is_orderly=is_orderly, settings={} if most is None else {"max_reconsume_times": most})

    def change(group: Group) -> None:
        group.calls[2]["result"] = result
        group.deliveries[2]["times"] = times

    group = group_of(change, story)
    assert group.holds_up(group.by_send[1][0]) is holds_up


def test_offsets_of_a_group_with_tags_count_its_own_messages() -> None:
    """What a broker answers, and its queue's end: every third message of broker-b's queue is the group's."""
    group = story_of(Story(tags=("paid",)).trace()).groups[Arm.CANDIDATE]
    first, *_ = group.commits_by_queue[QueueOf(TopicKind.FED, BROKERS[1], 0)]
    assert (first.value, first.end) == (8, 33)


def test_each_member_of_a_broadcasting_group_reads_alone() -> None:
    """With its own deliveries, tenures and commits."""

    def change(group: Group) -> None:
        rows(OWNED, ("commit", 2_000, 5))(group)
        group.members.append(group.members[0] | {"member": 1, "client_id": "m1"})
        group.deliver(1, 7_100, member=1)
        group.own(7_000, "b", member=1)
        group.offset("commit", 8_000, BROKERS[1], 1, member=1)

    readers = replace(group_of(change), is_broadcasting=True).readers
    for member, reader in enumerate(readers):
        for own in (reader.lives, reader.deliveries, reader.tenures, reader.commits):
            assert {each.member for each in own} == {member}
    assert [reader.is_broadcasting for reader in readers] == [False, False]


def test_the_longest_stall_of_the_machine() -> None:
    """As it was measured; 0 if it was not."""
    trace = Story(stall_ms=7).trace()
    case = story_of(trace)
    assert case.stalled_ns == 7 * MS
    trace.entry.measured.clear()
    assert case.stalled_ns == 0


@pytest.mark.parametrize(("origin_ns", "expected"), [(7, 7), (None, 0)])
def test_a_case_that_was_not_begun_has_its_origin_at_0(origin_ns: int | None, expected: int) -> None:
    """As its plan has."""
    trace = Story().trace()
    assert replace(trace, entry=replace(trace.entry, origin_ns=origin_ns)).origin_ns == expected
