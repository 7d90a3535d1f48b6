"""What a fault on the wire of consumers does by the rules, by kind of request, worked out by hand."""

import pytest

from rocketdiff.core.tables.fault import FaultKind, Frames, RequestKind, WireHit
from rocketdiff.core.units import NS_PER_S
from rocketdiff.oracle.consumer import reach
from rocketdiff.oracle.consumer.windows import Windows

DELAY, RESET, SWALLOW = FaultKind.WIRE_DELAY, FaultKind.WIRE_RESET, FaultKind.WIRE_SWALLOW
ANSWERS, REQUESTS = Frames.RESPONSES, Frames.REQUESTS
PULL, BACK, OFFSETS, BEAT, LOCK = RequestKind

ROWS = (
    ("a pull's answer is lost", SWALLOW, WireHit(PULL, ANSWERS), (False, 31, 1, 1)),
    ("one comes late", DELAY, WireHit(PULL, ANSWERS, 800), (False, 0.8, 0, 0)),
    ("a pull is answered with a reset", RESET, WireHit(PULL, REQUESTS), (True, 0, 31, 2)),
    ("a hand-back runs out", SWALLOW, WireHit(BACK, ANSWERS), (True, 5, 31, 2)),
    ("one is answered late", DELAY, WireHit(BACK, ANSWERS, 1_000), (False, 1, 0, 0)),
    ("one is answered too late", DELAY, WireHit(BACK, ANSWERS, 7_000), (True, 7, 31, 2)),
    ("a question for an offset runs out", SWALLOW, WireHit(OFFSETS, REQUESTS), (True, 5, 31, 2)),
    ("a heartbeat runs out", SWALLOW, WireHit(BEAT, REQUESTS), (True, 3, 31, 2)),
    ("one comes late", DELAY, WireHit(BEAT, REQUESTS, 500), (False, 0.5, 1, 1)),
    ("a question for a lock is late: it may run out after 1 s", DELAY, WireHit(LOCK, ANSWERS, 400), (True, 1, 52, 23)),
)


@pytest.mark.parametrize(
    ("kind", "hit", "expected"), [row[1:] for row in ROWS], ids=[f"{row[0]} {row[2]}" for row in ROWS]
)
def test_connections_close_and_queues_stand_still(
    kind: FaultKind, hit: WireHit, expected: tuple[bool, float, float, float]
) -> None:
    """Whether connections close, how long it lingers, and how long a queue then stands still, in 4.9.8 and 5.3.3."""
    stands_s = (
        reach.stands_still(Windows.of(release, {}, is_orderly=hit.of is LOCK), kind, hit) / NS_PER_S
        for release in ("4.9.8", "5.3.3")
    )
    assert (reach.may_close(kind, hit), reach.lingers_ns(kind, hit) / NS_PER_S, *stands_s) == expected


@pytest.mark.parametrize(
    ("kind", "hit", "commits", "hand_backs", "owners"),
    [
        (SWALLOW, WireHit(PULL, ANSWERS), False, False, False),
        (DELAY, WireHit(PULL, REQUESTS, 800), True, False, False),
        (DELAY, WireHit(BACK, ANSWERS, 800), False, True, False),
        (DELAY, WireHit(OFFSETS, REQUESTS, 800), True, False, True),
        (DELAY, WireHit(OFFSETS, ANSWERS, 800), False, False, True),
        (DELAY, WireHit(BEAT, REQUESTS, 800), False, False, True),
        (RESET, WireHit(PULL, ANSWERS), True, True, True),
    ],
)
def test_commits_hand_backs_and_owners_are_left_open(
    kind: FaultKind, hit: WireHit, *, commits: bool, hand_backs: bool, owners: bool
) -> None:
    """Whether commits may be lost, hand-backs meet no answer, and queues have other owners."""
    assert reach.may_lose_commits(kind, hit) is commits
    assert reach.may_meet_hand_backs(kind, hit) is hand_backs
    assert reach.may_move_queues(kind, hit) is owners
