"""How soon a member begins to work on a queue that it has taken, and how often late, at each limit."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.consuming.membership import Membership
from rocketdiff.analysis.consuming.story import QueueOf, Tenure, story_of
from rocketdiff.analysis.consuming.takeovers import Takeover, are_more_often_late, takeovers
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from tests.analysis.consuming.group_story import LEAVE_MS, Group, Story, ns
from tests.analysis.consuming.test_seeks import applied
from tests.analysis.synthetic import MS

Change = Callable[[Group], object]

TAKEN_MS, SOON_MS, LATEST_MS = 15_100, 17_100, 48_100
"""A busy machine adds 1.5 s to the first pull after 0.5 s, or to a refused one, which is made again 1 s after the next heartbeat."""


def found(change: Change, *, is_held: bool = True, **story: Any) -> list[tuple[float, float, float]]:
    made = Story(**story)
    change(made.candidate)
    case = story_of(made.trace())
    case = case if is_held else replace(case, held=None)
    group = case.groups[Arm.CANDIDATE]
    each = takeovers(case, group, Membership(case, group))
    return [tuple((at_ns - ns(0)) / MS for at_ns in (one.soon_ns, one.latest_ns, one.begun_ns)) for one in each]  # type: ignore[misc]


def take(
    first: int | None = 50, begun_ms: float | None = 15_200, *, of: str = "b", at_ms: float = TAKEN_MS, **life: Any
) -> Change:
    """The member gives broker-b's queue, or its retry queue, up at 10,050 ms, and takes it again: it begins at an offset, and when."""

    def change(group: Group) -> None:
        for send in range(101, 200, 2):
            group.drop(send)
        kept = [each for each in "abAB" if each != of]
        group.own(10_050, *kept)
        if first is None:
            group.offsets = [row for row in group.offsets if row["broker"] != "broker-b"]
        else:
            group.offset("query", at_ms - 1, "broker-b", first, kind="fed" if of == "b" else "retry")
        group.own(at_ms, "a", "b", "A", "B")
        if begun_ms is not None and first is not None:
            for offset in (first, first + 1):
                group.deliver(
                    2 * offset + 1, begun_ms + offset - first, kind="fed" if of == "b" else "retry", offset=offset
                )
        group.members[0] |= life

    return change


def given_up_again(group: Group) -> None:
    take(begun_ms=None)(group)
    group.own(20_000, "a", "A", "B")


def in_call(until_ms: float) -> Change:
    """Its one thread is in a call of the other queue."""

    def change(group: Group) -> None:
        take()(group)
        group.calls_of(150)[0]["end_ns"] = ns(until_ms)
        for send in range(152, 200, 2):
            group.drop(send)

    return change


def paused(from_ms: float, for_ms: float = 100) -> Change:
    return take(pauses=[{"from_ns": ns(from_ms), "until_ns": ns(from_ms + for_ms)}])


DELAYED = {"settings": {"consume_thread_min": 1}}


@pytest.mark.parametrize(
    ("change", "story", "expected"),
    [
        pytest.param(take(), {}, [(SOON_MS, LATEST_MS, 15_200)], id="begins at once"),
        pytest.param(take(), {"stall_ms": 200}, [(SOON_MS + 400, LATEST_MS + 400, 15_200)], id="a machine that stalls"),
        pytest.param(take(80, 16_200), {}, [(18_100, 49_100, 16_200)], id="its first message is stored later"),
        pytest.param(take(begun_ms=None), {}, [(SOON_MS, LATEST_MS, LEAVE_MS)], id="never begins"),
        pytest.param(take(80, None), {}, [(18_100, 49_100, LEAVE_MS)], id="never begins, stored later"),
        pytest.param(take(0, None), {}, [(SOON_MS, LATEST_MS, LEAVE_MS)], id="never begins at the first"),
        pytest.param(given_up_again, {}, [(SOON_MS, LATEST_MS, 20_000)], id="gives it up without a delivery"),
        pytest.param(take(99, None), {}, [(21_900, 52_900, LEAVE_MS)], id="never begins at the last message"),
        pytest.param(take(100, None), {}, [], id="nothing waits in it"),
        pytest.param(take(-1, None), {}, [], id="its first message is unknown"),
        pytest.param(take(None, None), {}, [], id="its first offset is unknown"),
        pytest.param(take(7, of="B"), {}, [], id="a retry queue"),
        pytest.param(applied("seek", offset=50), {}, [], id="its application goes elsewhere in it"),
        pytest.param(take(begun_ms=None), {"is_held": False}, [], id="what was stored is not known"),
        pytest.param(
            take(begun_ms=None, ended="died", leave_start_ns=None, leave_end_ns=None),
            {},
            [],
            id="it was cut off before",
        ),
        pytest.param(in_call(SOON_MS), DELAYED, [(SOON_MS, LATEST_MS, 15_200)], id="its thread is free in time"),
        pytest.param(in_call(SOON_MS + 0.001), DELAYED, [], id="its thread is busy"),
        pytest.param(paused(LATEST_MS), {}, [], id="its process is paused"),
        pytest.param(paused(LATEST_MS + 0.001), {}, [(SOON_MS, LATEST_MS, 15_200)], id="its process is paused later"),
        pytest.param(take(), {"pauses": ((53_100, 9),)}, [], id="a broker is paused"),
        pytest.param(take(), {"pauses": ((53_101, 9),)}, [(SOON_MS, LATEST_MS, 15_200)], id="a broker is paused later"),
    ],
)
def test_a_queue_is_taken(change: Change, story: dict[str, Any], expected: list[tuple[float, ...]]) -> None:
    """Soon, latest and begun in ms: where no fault, pause or want of threads delays it, and a message is known to wait."""
    assert found(change, **story) == expected


@pytest.mark.parametrize(("at_ms", "n"), [(0, 0), (0.001, 1)])
def test_a_queue_that_is_taken_before_the_feed_is_left_out(at_ms: float, n: int) -> None:
    """It is where the group is prepared."""

    def change(group: Group) -> None:
        group.owned = [row | {"queues": row["queues"][:1] + row["queues"][2:]} for row in group.owned[:1]]
        group.own(at_ms, "a", "b", "A", "B")

    assert len(found(change)) == n


def one(member: int, at_s: float, begun_s: float, incarnation: int = 1) -> Takeover:
    """Soon is a second after the queue was taken, and at the latest it begins after nine."""
    at_ns = round(at_s * 1_000 * MS)
    tenure = Tenure(
        member, incarnation, QueueOf(TopicKind.FED, "broker-a", 0), at_ns, None, 0, None, (), is_repaired=False
    )
    return Takeover(tenure, at_ns + 1_000 * MS, at_ns + 9_000 * MS, at_ns + round(begun_s * 1_000 * MS))


@pytest.mark.parametrize(
    ("begun_s", "is_late", "is_too_late"), [(1, False, False), (1.1, True, False), (9, True, False), (9.1, True, True)]
)
def test_late_and_too_late(begun_s: float, is_late: bool, is_too_late: bool) -> None:
    """After soon_ns, and after latest_ns."""
    each = one(0, 0, begun_s)
    assert (each.is_late, each.is_too_late) == (is_late, is_too_late)


LATE, SOON = 2.0, 0.5


@pytest.mark.parametrize(
    ("own", "other", "accused"),
    [
        pytest.param([(0, 10 * n, LATE) for n in range(7)], 7, True, id="seven of seven"),
        pytest.param([(0, 10 * n, LATE) for n in range(6)], 6, False, id="six may be chance"),
        pytest.param(
            [(0, 10 * n + more, LATE) for n in range(6) for more in (0, 1)], 6, False, id="two queues of one round"
        ),
        pytest.param(
            [(0, 10 * n + more, LATE) for n in range(6) for more in (0, 1.001)],
            6,
            True,
            id="two rounds, a second apart",
        ),
        pytest.param(
            [(0, 10 * n + 0.9 * more, LATE) for n in range(4) for more in range(3)],
            7,
            True,
            id="the third is of the next",
        ),
        pytest.param(
            [(m, 10 * n, LATE) for n in range(4) for m in (0, 1)], 7, True, id="two members at once are two rounds"
        ),
        pytest.param(
            [(0, 10 * n + m / 2, LATE, m) for n in range(4) for m in (0, 1)], 7, True, id="two lives are two rounds"
        ),
        pytest.param(
            [(0, 10 * n + more, more or LATE) for n in range(7) for more in (0, 0.5)],
            7,
            True,
            id="one queue of each late",
        ),
        pytest.param(
            [(0, 10 * n + more, LATE if more else SOON) for n in range(7) for more in (0, 0.5)],
            7,
            True,
            id="the second queue of each late",
        ),
        pytest.param([(0, 10 * n, LATE if n < 14 else SOON) for n in range(20)], 20, True, id="fourteen of twenty"),
        pytest.param(
            [(0, 10 * n, LATE if n < 7 else SOON) for n in range(20)], -20, False, id="the others are late more often"
        ),
        pytest.param([(0, 10 * n, SOON) for n in range(7)], -7, False, id="the others are late"),
        pytest.param([(0, 10 * n, LATE) for n in range(7)], -7, False, id="both are late"),
    ],
)
def test_groups_are_compared_by_rounds(own: list[tuple[Any, ...]], other: int, accused: bool) -> None:
    """At a chance of one in a thousand. other: rounds of the other group in time, or late if below 0."""
    others = [one(0, 10 * n, SOON if other > 0 else LATE) for n in range(abs(other))]
    assert are_more_often_late([one(*each) for each in own], others) is accused
