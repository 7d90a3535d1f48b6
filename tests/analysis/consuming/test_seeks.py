"""What calls of an application make of a member's work on a queue, and of what it may be handed, at each limit."""

from collections.abc import Callable
from typing import Any

import pytest

from rocketdiff.analysis.consuming.membership import Membership, applied_spans
from rocketdiff.analysis.consuming.story import GroupStory, QueueOf, story_of
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from tests.analysis.consuming.group_story import LEAVE_MS, Group, Story, differences_of, ns
from tests.analysis.synthetic import MS

A, B = "broker-a", "broker-b"
QUEUE = QueueOf(TopicKind.FED, B, 0)

Change = Callable[[Group], object]


def applied(what: str, at_ms: float = 8_000, **row: Any) -> Change:
    """A call about broker-b's queue, which takes 5 ms."""

    def change(group: Group) -> None:
        own = {"what": what, "broker": B, "queue_id": 0, "start_ns": ns(at_ms), "end_ns": ns(at_ms + 5)}
        group.members[0].setdefault("applied", []).append(own | {"offset": None, "error": None} | row)

    return change


def group_of(*changes: Change) -> GroupStory:
    made = Story()
    for change in changes:
        change(made.candidate)
    return story_of(made.trace()).groups[Arm.CANDIDATE]


def in_ms(at_ns: float | None) -> float | None:
    return None if at_ns is None else (at_ns - ns(0)) / MS


def update(at_ms: float, value: int) -> Change:
    return lambda group: group.offset("update", at_ms, B, value)


def without(*offsets: int) -> Change:
    def change(group: Group) -> None:
        for offset in offsets:
            group.drop(2 * offset + 1)

    return change


def again(offset: int, at_ms: float) -> Change:
    return lambda group: group.deliver(2 * offset + 1, at_ms)


WHOLE = (-1_500, LEAVE_MS + 10, -1, False, False)
BEFORE = (-1_500, 8_000, -1, False, True)


def after(first: int, from_ms: float = 8_000) -> tuple[float, float, int, bool, bool]:
    return from_ms, LEAVE_MS + 10, first, True, False


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param([applied("seek", offset=20)], [BEFORE, after(20)], id="to an offset"),
        pytest.param([applied("seek_to_begin")], [BEFORE, after(0)], id="to the beginning"),
        pytest.param([applied("seek", offset=20, error="E")], [WHOLE], id="it fails"),
        pytest.param([applied("pause"), applied("resume", 9_000)], [WHOLE], id="a pause"),
        pytest.param([applied("seek", offset=20, broker=A)], [WHOLE], id="of another queue"),
        pytest.param([applied("seek", -1_500.1, offset=20)], [WHOLE], id="before it has the queue"),
        pytest.param([applied("seek", LEAVE_MS + 10, offset=20)], [WHOLE], id="as it gives the queue up"),
        pytest.param(
            [applied("seek", offset=20), applied("seek", 9_000, offset=10)],
            [BEFORE, (8_000, 9_000, 20, True, True), after(10, 9_000)],
            id="twice",
        ),
        pytest.param([applied("seek_to_end")], [BEFORE, after(40)], id="to the end that is delivered"),
        pytest.param([applied("seek_to_end"), without(*range(40, 43))], [BEFORE, after(43)], id="to one that came later"),
        pytest.param([applied("seek_to_end"), without(*range(40, 50))], [BEFORE, after(45)], id="not so late"),
        pytest.param([applied("seek_to_end"), without(*range(40, 100))], [BEFORE, after(45)], id="nothing is delivered"),
        pytest.param([applied("seek_to_end"), again(36, 8_050)], [BEFORE, after(36)], id="to one that came before"),
        pytest.param([applied("seek_to_end"), again(30, 8_050)], [BEFORE, after(35)], id="not so early"),
        pytest.param(
            [applied("seek_to_end"), applied("seek", 8_150, offset=30), again(30, 8_160)],
            [BEFORE, (8_000, 8_150, 40, True, True), after(30, 8_150)],
            id="what is delivered after the next one does not count",
        ),
        pytest.param(
            [applied("seek_to_end"), applied("seek", 8_102, offset=30)],
            [BEFORE, (8_000, 8_102, 45, True, True), after(30, 8_102)],
            id="nor what is delivered with it",
        ),
    ],
)  # fmt: skip
def test_a_tenure_is_cut_where_its_application_goes_elsewhere(
    changes: list[Change], expected: list[tuple[float, float, int, bool, bool]]
) -> None:
    """From and until, the first offset, and whether it was sought, and left; the end of the queue at 8 s is from 35 to 45."""
    found = [
        (in_ms(each.from_ns), in_ms(each.until_ns), each.first, each.is_sought, each.is_left)
        for each in group_of(*changes).tenures_of(QUEUE)
    ]
    assert found == expected


def test_a_tenure_after_a_seek_begins_with_it() -> None:
    """Nobody asks for its offset, and what was remembered before its first message is not its own."""
    updates = [update(at_ms, value) for at_ms, value in ((7_999, 38), (8_000, 39), (8_101, 40), (8_102, 41))]
    before, part = group_of(applied("seek", offset=20), *updates).tenures_of(QUEUE)
    assert [(in_ms(at_ns), value) for at_ns, value in before.updates] == [(7_999, 38)]
    assert [(in_ms(at_ns), value) for at_ns, value in part.updates] == [(8_102, 41)]
    assert (part.begin_ns, part.asked_ns) == (ns(8_000), None)
    (_, part) = group_of(applied("seek", offset=20), *updates, without(*range(40, 100))).tenures_of(QUEUE)
    assert part.updates == ()


PAUSE, RESUME = applied("pause"), applied("resume", 13_000)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param([PAUSE], [(8_005, None)], id="for ever"),
        pytest.param([PAUSE, RESUME], [(8_005, 13_000)], id="until it is resumed"),
        pytest.param([applied("resume", 7_000), PAUSE], [(8_005, None)], id="it was resumed before"),
        pytest.param([PAUSE, applied("resume", 9_000, broker=A), RESUME], [(8_005, 13_000)], id="another is resumed"),
        pytest.param([applied("pause", error="E"), RESUME], [], id="it fails"),
        pytest.param([applied("seek", offset=1), RESUME], [], id="no pause"),
        pytest.param([PAUSE, RESUME, applied("resume", 14_000)], [(8_005, 13_000)], id="resumed twice"),
        pytest.param([PAUSE, RESUME, applied("pause", 20_000)], [(8_005, 13_000), (20_005, None)], id="again"),
    ],
)
def test_a_queue_is_paused(changes: list[Change], expected: list[tuple[float, float | None]]) -> None:
    """From the return of the call to the next resumption of the same queue."""
    (life,) = group_of(*changes).lives
    found = list(life.queue_pauses)
    assert [(in_ms(each.from_ns), in_ms(each.until_ns)) for each in found] == expected
    assert {(each.member, each.incarnation, each.queue) for each in found} <= {(0, 1, QUEUE)}


def test_applications_disturb() -> None:
    """Each call for five seconds after it, and a pause for five after its end, or for ever."""
    made = Story()
    for change in (PAUSE, RESUME, applied("pause", 20_000)):
        change(made.candidate)
    case = story_of(made.trace())
    spans = list(applied_spans(case.groups[Arm.CANDIDATE]))
    moving = list(Membership(case, case.groups[Arm.CANDIDATE]).moving(ns(99_000)))
    assert moving == spans
    found = [(in_ms(since_ns), None if until_ns == float("inf") else in_ms(until_ns)) for since_ns, until_ns in spans]
    calls: list[tuple[float, float | None]] = [(8_000, 13_005), (13_000, 18_005), (20_000, 25_005)]
    assert found == [*calls, (8_005, 18_000), (20_005, None)]


def lasts_from(send: int, at_ms: float) -> Change:
    return lambda group: group.calls_of(send)[0].update(start_ns=ns(at_ms), end_ns=ns(at_ms + 1))


@pytest.mark.parametrize(
    ("changes", "story", "expected"),
    [
        pytest.param([PAUSE], {}, [(93, "message 93, 1.3 s after the pause")], id="paused"),
        pytest.param([PAUSE, RESUME], {}, [(93, "message 93, 1.3 s after the pause")], id="the first of them"),
        pytest.param([PAUSE], {"stall_ms": 150}, [(95, "message 95, 1.5 s after the pause")], id="on a machine that stalls"),
        pytest.param([PAUSE, applied("resume", 9_302)], {}, [], id="resumed as it comes"),
        pytest.param([PAUSE, applied("resume", 9_303)], {}, [(93, "message 93, 1.3 s after the pause")], id="resumed after it"),
        pytest.param([applied("pause", 8_094)], {}, [(93, "message 93, 1.2 s after the pause")], id="before one is stored"),
        pytest.param([applied("pause", 8_095)], {}, [(95, "message 95, 1.4 s after the pause")], id="as one is stored"),
        pytest.param([applied("pause", broker=A)], {}, [(94, "message 94, 1.4 s after the pause")], id="the other queue"),
        pytest.param([applied("pause", 19_995)], {}, [], id="nothing is stored since"),
        pytest.param([PAUSE, lambda group: [row.update(member=1) for row in (*group.calls, *group.deliveries)]], {}, [], id="of another member"),
        pytest.param([PAUSE, lambda group: [row.update(incarnation=2) for row in group.calls]], {}, [], id="of another life"),
        pytest.param([PAUSE, without(*range(46, 100)), lasts_from(87, 9_900)], {}, [], id="stored just after the pause"),
    ],
)  # fmt: skip
def test_a_paused_queue_brings_nothing_new(
    changes: list[Change], story: dict[str, Any], expected: list[tuple[int, str]]
) -> None:
    """That is stored over a second after the first message since the pause."""
    facts = [
        fact for fact in differences_of("delivered", *changes, **story) if fact.signature == "delivered.while-paused"
    ]
    assert [(fact.send, fact.observed) for fact in facts] == expected
    assert all("which member 0 has paused" in fact.expected for fact in facts)


def test_a_call_that_fails_is_described() -> None:
    """At its end, as its member's."""
    (fact,) = differences_of("delivered", applied("seek", offset=20, error="E"))
    assert (fact.signature, fact.at_ns, fact.thread) == ("delivered.call-fails", ns(8_005), 0)
    assert fact.expected == "seek of queue 0 of broker-b by the application of member 0 to return"
    assert fact.observed == "E"


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        pytest.param([applied("seek", offset=45), without(*range(40, 45))], [], id="below"),
        pytest.param([applied("seek", offset=45), without(*range(40, 46))], [91], id="at the offset"),
        pytest.param([applied("seek", offset=45), applied("seek", 8_050, offset=44), without(*range(40, 45))], [], id="below one of two"),
        pytest.param([without(*range(40, 45))], [81, 83, 85, 87, 89], id="nobody went there"),
    ],
)  # fmt: skip
def test_messages_below_a_sought_offset_need_not_be_delivered(changes: list[Change], missing: list[int]) -> None:
    """Of the highest of them."""
    facts = differences_of("delivered", *changes)
    assert [fact.send for fact in facts if fact.signature in {"delivered.never", "delivered.not-yet"}] == missing


@pytest.mark.parametrize(
    ("offset", "first", "expected"),
    [(20, 20, []), (20, 21, ["it went on at 21"]), (20, 19, ["it went on at 19"])],
)
def test_a_member_goes_on_where_its_application_went(offset: int, first: int, expected: list[str]) -> None:
    """At the offset itself."""
    changes = [applied("seek", offset=offset), *(again(each, 8_010 + each) for each in range(first, 40))]
    facts = [fact for fact in differences_of("redelivery", *changes) if fact.signature == "redelivery.not-where-sought"]
    assert [fact.observed for fact in facts] == expected
    words = "member 0 to go on with queue 0 of broker-b at 20, where its application went"
    assert all(fact.expected == words for fact in facts)
