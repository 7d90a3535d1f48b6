"""What a fault on the wire of consumers does by the rules, by kind of request, worked out by hand."""

import pytest

from rocketdiff.core.tables.fault import FaultKind, FaultRecord, Frames, RequestKind, WireHit
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
    ("one comes at once", DELAY, WireHit(PULL, ANSWERS, 0), (False, 0, 0, 0)),
    ("a hand-back runs out", SWALLOW, WireHit(BACK, ANSWERS), (True, 5, 31, 2)),
    ("one is answered late", DELAY, WireHit(BACK, ANSWERS, 1_000), (False, 1, 0, 0)),
    ("one is answered too late", DELAY, WireHit(BACK, ANSWERS, 7_000), (True, 7, 31, 2)),
    ("one is answered so late that it may run out", DELAY, WireHit(BACK, ANSWERS, 4_000), (True, 5, 31, 2)),
    ("one is answered just before that", DELAY, WireHit(BACK, ANSWERS, 3_999), (False, 3.999, 0, 0)),
    ("a question for an offset runs out", SWALLOW, WireHit(OFFSETS, REQUESTS), (True, 5, 31, 2)),
    ("a heartbeat runs out", SWALLOW, WireHit(BEAT, REQUESTS), (True, 3, 31, 2)),
    ("one comes late", DELAY, WireHit(BEAT, REQUESTS, 500), (False, 0.5, 1, 1)),
    ("a question for a lock is late: it may run out after 1 s", DELAY, WireHit(LOCK, ANSWERS, 400), (True, 1, 52, 23)),
    ("one is answered with a reset", RESET, WireHit(LOCK, REQUESTS), (True, 0, 52, 23)),
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
        (SWALLOW, WireHit(PULL, REQUESTS), False, False, False),
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


@pytest.mark.parametrize(
    ("kind", "hit", "is_orderly", "expected_s"),
    [
        (SWALLOW, WireHit(BEAT, REQUESTS), False, 2 + 34.5),
        (DELAY, WireHit(BEAT, REQUESTS, 500), False, 34.5),
        (SWALLOW, WireHit(LOCK, REQUESTS), True, 2 + 34.5 + 61),
    ],
)
def test_how_long_owners_are_left_open(kind: FaultKind, hit: WireHit, is_orderly: bool, expected_s: float) -> None:
    """In 5.3.3, with two queues: a closed connection, a round beside a broker that is down, and the lock of another member."""
    windows = Windows.of("5.3.3", {}, is_orderly=is_orderly)
    assert reach.moves_queues_for(windows, kind, hit, 2) == expected_s * NS_PER_S


def fault(kind: FaultKind, hit: WireHit | None = None, from_s: float = 10, healed_s: float | None = 20) -> FaultRecord:
    inject_ns = round(from_s * NS_PER_S)
    return FaultRecord(
        0,
        kind,
        "n",
        inject_ns,
        inject_ns,
        None,
        healed_ns=None if healed_s is None else round(healed_s * NS_PER_S),
        hit=hit,
    )


DOWN = "is_down is_felt moves_queues hides_commits meets_hand_backs"


@pytest.mark.parametrize(
    ("kind", "hit", "effects"),
    [
        (FaultKind.PAUSE, None, DOWN),
        (FaultKind.KILL, None, DOWN),
        (FaultKind.PAUSE_NAME_SERVER, None, f"{DOWN} is_of_name_server"),
        (FaultKind.PAUSE_SLAVE, None, ""),
        (FaultKind.KILL_PROXY, None, ""),
        (FaultKind.READ_ONLY, None, ""),
        (SWALLOW, WireHit(PULL, ANSWERS), "is_felt"),
        (RESET, WireHit(PULL, ANSWERS), "is_felt moves_queues closes_connections hides_commits meets_hand_backs"),
        (DELAY, WireHit(BEAT, ANSWERS, 500), "is_felt moves_queues"),
        (DELAY, WireHit(OFFSETS, REQUESTS, 800), "is_felt moves_queues hides_commits"),
        (DELAY, WireHit(BACK, ANSWERS, 800), "is_felt meets_hand_backs"),
    ],
)
def test_a_fault_has_its_effects_on_a_group(kind: FaultKind, hit: WireHit | None, effects: str) -> None:
    """A broker or name server that is down does everything but close connections; on the wire it depends on the request."""
    questions = [*DOWN.split(), "closes_connections", "is_of_name_server"]
    assert {name for name in questions if getattr(reach, name)(fault(kind, hit))} == set(effects.split())


@pytest.mark.parametrize(
    ("kind", "hit", "healed_s", "over_s", "unreachable_s"),
    [
        (FaultKind.PAUSE, None, 20, 20, 20),
        (FaultKind.PAUSE, None, None, None, None),
        (FaultKind.PAUSE_NAME_SERVER, None, 20, 20, 20 + 30 + 5),
        (FaultKind.PAUSE_NAME_SERVER, None, None, None, None),
        (SWALLOW, WireHit(PULL, ANSWERS), 20, 51, 51),
        (SWALLOW, WireHit(PULL, ANSWERS), None, None, None),
        (DELAY, WireHit(BACK, ANSWERS, 800), 20, 20.8, 20.8),
    ],
)
def test_until_when_a_fault_lasts(
    kind: FaultKind, hit: WireHit | None, healed_s: float | None, over_s: float | None, unreachable_s: float | None
) -> None:
    """With the last request that it hit; a broker registers anew with a name server that was silent."""
    made = fault(kind, hit, healed_s=healed_s)
    seen = (reach.over_ns(made), reach.unreachable_until_ns(made))
    assert tuple(None if at_ns is None else at_ns / NS_PER_S for at_ns in seen) == (over_s, unreachable_s)


SWALLOWED = fault(SWALLOW, WireHit(BACK, ANSWERS))


@pytest.mark.parametrize(
    ("faults", "end_s", "expected"),
    [
        ([], 15, False),
        ([fault(FaultKind.PAUSE)], None, False),
        ([fault(FaultKind.PAUSE)], 1.999, False),
        ([fault(FaultKind.PAUSE)], 2, True),
        ([fault(FaultKind.PAUSE)], 20, True),
        ([fault(FaultKind.PAUSE)], 20.001, False),
        ([fault(FaultKind.PAUSE, healed_s=None)], 900, True),
        ([fault(FaultKind.PAUSE, healed_s=None)], 1, False),
        ([fault(FaultKind.PAUSE, from_s=900, healed_s=950), fault(FaultKind.PAUSE)], 15, True),
        ([SWALLOWED], 25, True),
        ([SWALLOWED], 25.001, False),
    ],
)
def test_a_message_may_stay_beside_a_fault(faults: list[FaultRecord], end_s: float | None, expected: bool) -> None:
    """If its call ended within eight seconds before the fault, or before its last request was over."""
    assert reach.may_stay(faults, None if end_s is None else round(end_s * NS_PER_S)) is expected
