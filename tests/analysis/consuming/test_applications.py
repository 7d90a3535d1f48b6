"""Groups whose applications seek, pause and resume queues, as stories judged to the exit code."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from rocketdiff.core.errors import ExitCode
from tests.analysis.consuming.group_story import COUNT, Group, ns, shown_of
from tests.analysis.consuming.test_lite_pull import PolledStory, polled

CALL_MS, BROKER = 8_000, "broker-b"
"""Offset n of the broker's queue is message 2n + 1, stored 100 ms before the even hundreds; 39 was the last before the call."""

FIRST, LAST = 20, 39
CHECKS = ("delivered", "redelivery", "offsets", "allocation")

Change = Callable[[Group], None]


def applied(what: str, at_ms: float = CALL_MS, **row: Any) -> Change:
    """A call of the application, which takes 5 ms."""

    def change(group: Group) -> None:
        own = {"what": what, "broker": BROKER, "queue_id": 0, "start_ns": ns(at_ms), "end_ns": ns(at_ms + 5)}
        group.members[0].setdefault("applied", []).append(own | {"offset": None, "error": None} | row)

    return change


def again(offsets: Iterable[int], at_ms: float = CALL_MS + 10) -> Change:
    """Deliveries of these offsets, 2 ms apart."""

    def change(group: Group) -> None:
        for number, offset in enumerate(offsets):
            group.deliver(2 * offset + 1, at_ms + 2 * number, unique_key=str(2 * offset + 1))

    return change


def without(offsets: Iterable[int]) -> Change:
    def change(group: Group) -> None:
        for offset in offsets:
            group.drop(2 * offset + 1)

    return change


def later(offsets: Iterable[int], at_ms: float) -> Change:
    """These offsets are delivered from another time on."""
    known = tuple(offsets)

    def change(group: Group) -> None:
        without(known)(group)
        for number, offset in enumerate(known):
            group.deliver(2 * offset + 1, at_ms + 2 * number, **shown_of(2 * offset + 1))

    return change


def later_of_the_other(offsets: Iterable[int], at_ms: float) -> Change:
    """These offsets of the other broker's queue are delivered from another time on."""
    known = tuple(offsets)

    def change(group: Group) -> None:
        for number, offset in enumerate(known):
            group.drop(2 * offset)
            group.deliver(2 * offset, at_ms + 2 * number, **shown_of(2 * offset))

    return change


def committed(at_ms: float, value: int) -> Change:
    return lambda group: group.offset("commit", at_ms, BROKER, value)


def remembered(at_ms: float, value: int) -> Change:
    return lambda group: group.offset("update", at_ms, BROKER, value)


BACK = (applied("seek", offset=FIRST), again(range(FIRST, LAST + 1)))
ELSEWHERE, FAILS, PAUSED = "redelivery.not-where-sought", "delivered.call-fails", "delivered.while-paused"
WAITS = "consumption.waits-longer"
AGAIN, GAP, NEVER = "redelivery.without-cause", "redelivery.gap", "delivered.never"
EARLY = "offsets.unfinished-committed"
"""What a member commits that has not come back to a message since its application went there, too."""


def judged(*changes: Change) -> set[str]:
    """Return the signatures of a group that does this, beside one whose application asks for nothing; judged to the exit code."""
    candidate = polled()
    for change in changes:
        change(candidate)
    ended = PolledStory(candidate=candidate, checks=CHECKS).judge()
    found = {cluster.signature for cluster in ended.document.clusters}
    assert ended.judgement.exit_code is (ExitCode.DIVERGES if found else ExitCode.CONFORMS)
    return found


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param(BACK, set(), id="back"),
        pytest.param(BACK[:1], {ELSEWHERE, EARLY}, id="not back"),
        pytest.param([BACK[0], again(range(FIRST + 2, LAST + 1))], {ELSEWHERE, EARLY}, id="back, but not so far"),
        pytest.param([BACK[0], again(range(FIRST - 2, LAST + 1))], {ELSEWHERE}, id="back too far"),
        pytest.param([*BACK, again([38, 39], CALL_MS + 6)], {AGAIN}, id="first what waited for a poll"),
        pytest.param([BACK[0], again([*range(FIRST, 30), *range(31, LAST + 1)])], {GAP, EARLY}, id="back, and one left out"),
        pytest.param([applied("seek_to_begin"), again(range(LAST + 1))], set(), id="to the beginning"),
        pytest.param([applied("seek_to_begin"), again(range(1, LAST + 1))], {ELSEWHERE, EARLY}, id="nearly to the beginning"),
        pytest.param([applied("seek", offset=45), without(range(40, 45))], set(), id="forward"),
        pytest.param([applied("seek", offset=45)], {ELSEWHERE}, id="not forward"),
        pytest.param([applied("seek_to_end"), without(range(36, 40))], set(), id="to the end"),
        pytest.param([applied("seek_to_end"), without(range(36, 41))], set(), id="to an end that was read late"),
        pytest.param([applied("seek_to_end"), without(range(36, 48))], {ELSEWHERE, EARLY, NEVER}, id="behind the end"),
        pytest.param([applied("seek_to_end"), later(range(30, 34), CALL_MS + 10)], {ELSEWHERE, EARLY, GAP}, id="not to the end"),
        pytest.param([applied("seek", error="E", offset=FIRST)], {FAILS}, id="a seek that fails"),
        pytest.param([*BACK, again(range(10, LAST + 2), 8_205), applied("seek", 8_203, offset=10)], set(), id="back twice"),
        pytest.param([*BACK, applied("seek", 8_203, offset=10)], {ELSEWHERE, EARLY}, id="back once of twice"),
    ],
)  # fmt: skip
def test_a_queue_goes_on_where_its_application_went(changes: Iterable[Change], expected: set[str]) -> None:
    """At the offset itself, with nothing that was pulled before, and leaving nothing out."""
    assert judged(*changes) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param([committed(8_100, 39), committed(12_000, 45)], set(), id="what it remembered before, for a while"),
        pytest.param([remembered(8_008, 39)], set(), id="a poll before the first pull"),
        pytest.param([remembered(8_200, 45)], {EARLY}, id="what nobody has got"),
        pytest.param([committed(8_100, 45)], {EARLY}, id="to the broker, too"),
    ],
)
def test_commits_follow_a_seek(changes: Iterable[Change], expected: set[str]) -> None:
    """A member remembers what it worked on before until the first commit after its next pull."""
    assert judged(*BACK, *changes) == expected


RESUMED_MS = 13_000


def kept_back(group: Group) -> None:
    """Until the resumption nothing that is stored after the pause is committed."""
    for row in (*group.offsets, *group.committed):
        if row["broker"] == BROKER and CALL_MS < (row.get("at_ns") or row["asked_ns"]) / 1e6 - ns(0) / 1e6 < 14_900:
            row["value"] = min(row["value"], LAST + 1)


PAUSES = (applied("pause"), applied("resume", RESUMED_MS), kept_back)
HELD_BACK = tuple(range(40, 65))
"""Offsets that are stored while the queue is paused."""


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param([later(HELD_BACK, RESUMED_MS + 500)], set(), id="nothing until the resumption"),
        pytest.param([later(HELD_BACK[4:], RESUMED_MS + 500)], set(), id="what the pull under way brings"),
        pytest.param([], {PAUSED}, id="everything"),
        pytest.param([later([*HELD_BACK[:12], *HELD_BACK[13:]], RESUMED_MS + 500)], {PAUSED}, id="one"),
        pytest.param([without(range(36, 40)), later(HELD_BACK, RESUMED_MS + 500)], {NEVER, GAP, EARLY}, id="what waited is lost"),
        pytest.param([without(range(40, COUNT // 2))], {"delivered.not-yet", EARLY}, id="nothing ever again"),
        pytest.param([later(HELD_BACK, RESUMED_MS + 400), again(HELD_BACK, RESUMED_MS + 500)], {AGAIN}, id="twice"),
    ],
)  # fmt: skip
def test_a_paused_queue_brings_nothing_until_it_is_resumed(changes: Iterable[Change], expected: set[str]) -> None:
    """But what was pulled before; each message of it comes once."""
    assert judged(*PAUSES, *changes) == expected


@pytest.mark.parametrize(
    ("changes", "is_found"),
    [
        pytest.param([*BACK[:1], again(range(FIRST, LAST + 1), CALL_MS + 2_400)], False, id="back, a bit later"),
        pytest.param([*BACK[:1], again(range(FIRST, LAST + 1), CALL_MS + 2_700)], True, id="back seconds later"),
        pytest.param([*PAUSES, later(HELD_BACK, RESUMED_MS + 2_400)], False, id="resumed, a bit later"),
        pytest.param([*PAUSES, later(HELD_BACK, RESUMED_MS + 2_700)], True, id="resumed seconds later"),
        pytest.param([*PAUSES, later(HELD_BACK, RESUMED_MS), later_of_the_other(range(43, 60), RESUMED_MS)], True, id="both paused for one"),
        pytest.param([later_of_the_other(range(43, 60), RESUMED_MS)], False, id="a wait without a call, once"),
    ],
)  # fmt: skip
def test_a_queue_that_can_be_pulled_from_waits_no_longer_than_the_baseline_s(
    changes: Iterable[Change], is_found: bool
) -> None:
    """A second, in which a paused queue is looked at, and what a busy machine adds."""
    assert (WAITS in judged(*changes)) is is_found
