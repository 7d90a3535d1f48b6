"""Excuses of attempts that outlast their timeout: a connection to make, or a busy machine."""

import pytest

from rocketdiff.analysis.sending.steps.excuses import (
    Excuses,
    HeldConnections,
    latest_timeout_ms,
    slowest_in_calm_ms,
)
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.oracle.producer.durations import Outlasted
from tests.analysis.builders import ENTRY, MS, S, fault
from tests.analysis.trace_builders import SLOW, ended_attempts, trace

REFUSED = "RemotingConnectException"
End = tuple[str, int, str | None]
"""Broker, end in ns, error."""

ANSWERED = ("broker-b", 9 * S, None)


def held(*ends: End) -> HeldConnections:
    return HeldConnections(ended_attempts(*((0, broker, 0, end_ns, error) for broker, end_ns, error in ends)), [])


@pytest.mark.parametrize(
    ("ends", "is_held"),
    [
        ([("broker-b", 10 * S, None)], True),
        ([("broker-b", 10 * S + 1, None)], False),
        ([("broker-b", 10 * S - 60 * S, None)], True),
        ([("broker-b", 10 * S - 60 * S - 1, None)], False),
        ([("broker-b", 10 * S - 60 * S - 1, None), ANSWERED], True),
        ([("broker-a", 9 * S, None)], False),
        ([("broker-b", 9 * S, SLOW)], False),
        ([ANSWERED, ("broker-b", 8 * S - 1, REFUSED)], True),
        ([ANSWERED, ("broker-b", 8 * S, REFUSED)], False),
        ([ANSWERED, ("broker-b", 11 * S - 1, SLOW)], False),
        ([ANSWERED, ("broker-b", 11 * S, SLOW)], True),
        ([ANSWERED, ("broker-a", 10 * S, REFUSED)], True),
        ([("broker-b", 5 * S, None), ("broker-b", 6 * S, SLOW), ANSWERED], True),
    ],
)
def test_since_when_a_connection_is_held(ends: list[End], is_held: bool) -> None:
    """
    A connection is held for a minute after an answer, unless closed from 1 s before that answer on.

    The attempt is at broker-b from 10 to 11 s.
    """
    assert held(*ends).is_held("broker-b", 10 * S, 11 * S) is is_held


@pytest.mark.parametrize(
    ("kind", "node", "from_s", "to_s", "is_held"),
    [
        (FaultKind.KILL, "broker-b", 11, None, True),
        (FaultKind.KILL, "broker-b", 10.5, None, False),
        (FaultKind.KILL, "broker-b", 5, 8, True),
        (FaultKind.KILL, "broker-b", 5, 8.5, False),
        (FaultKind.KILL, "broker-b", 5, None, False),
        (FaultKind.KILL, "broker-a", 9, 9.5, True),
        (FaultKind.PAUSE, "broker-b", 9, 9.5, True),
        (FaultKind.WIRE_RESET, "broker-b", 9, 9.5, False),
    ],
)
def test_only_faults_that_cut_a_broker_off_cost_its_connection(
    kind: FaultKind, node: str, from_s: float, to_s: float | None, is_held: bool
) -> None:
    """
    Only faults that cut a broker off close connections; a paused broker's kernel keeps them.

    A kill counts between the second before the answer (9 s) and the attempt's end (11 s).
    """
    cut = fault(round(from_s * S), None if to_s is None else round(to_s * S), kind, node)
    answered = ended_attempts((0, "broker-b", 0, 9 * S, None))
    assert HeldConnections(answered, [cut]).is_held("broker-b", 10 * S, 11 * S) is is_held


@pytest.mark.parametrize(
    ("took_ms", "other_late_ms", "may_connect", "excused"),
    [
        (4_000, 0, False, True),
        (4_001, 0, False, False),
        (5_100, 700, False, True),
        (5_101, 700, False, False),
        (6_001, 5_000, False, False),
        (10_000, 0, True, True),
        (10_001, 0, True, False),
    ],
)
def test_how_late_an_attempt_may_be(took_ms: int, other_late_ms: int, may_connect: bool, excused: bool) -> None:
    """An attempt of 3 s may be 1 s late, or 3 times as late as the other arm up to 3 s, plus 6 s to connect."""
    excuses = Excuses(HeldConnections(None, ()), other_late_ms)
    assert excuses.cover(Outlasted(took_ms, 3_000, may_connect), "broker-b", 0, took_ms * MS) is excused


@pytest.mark.parametrize(
    ("timeout_ms", "other_late_ms", "most_ms"),
    [(150, 0, 300), (150, 49, 300), (150, 100, 450), (150, 400, 1_150), (500, 50, 750), (500, 200, 1_100)],
)
def test_how_late_a_short_attempt_may_be(timeout_ms: int, other_late_ms: int, most_ms: int) -> None:
    """An attempt may take half of its timeout more, or three times the other arm's delay longer, at most a second."""
    excuses = Excuses(HeldConnections(None, ()), other_late_ms)
    found = [excuses.cover(Outlasted(ms, timeout_ms, False), "broker-b", 0, S) for ms in (most_ms, most_ms + 1)]
    assert found == [True, False]


def test_the_machine_is_measured_in_calm() -> None:
    """Of an arm's sends of 40, 70, 90 and 900 ms, the third met a pause and the last failed."""
    rows = [
        {"send": n, "start_ns": at * S, "end_ns": at * S + took * MS} | others
        for n, (at, took, others) in enumerate(
            [(0, 40, {}), (1, 70, {}), (11, 90, {}), (3, 900, {"outcome": "unknown", "error": SLOW})]
        )
    ]
    assert slowest_in_calm_ms(trace(ENTRY, sends=rows, faults=[{}]), Arm.CANDIDATE) == 70
    assert slowest_in_calm_ms(trace(ENTRY), Arm.CANDIDATE) == 0


def test_a_held_connection_leaves_no_time_to_connect() -> None:
    """An attempt of 3 s on an open connection may be 1 s late."""
    excuses = Excuses(held(ANSWERED))
    found = [excuses.cover(Outlasted(ms, 3_000, True), "broker-b", 10 * S, 11 * S) for ms in (4_000, 4_001)]
    assert found == [True, False]


def test_how_late_an_arm_noticed_its_timeouts() -> None:
    """An arm's lateness is that of its latest timeout."""
    ends = ((3_010, SLOW), (3_200, SLOW), (9_000, REFUSED), (8_001, None))
    table = ended_attempts(*((0, "broker-b", S, S + end_ms * MS, error) for end_ms, error in ends))
    assert latest_timeout_ms(table, 3_000) == 200
    answered = ended_attempts((0, "broker-b", 0, 8_001 * MS, None))
    assert latest_timeout_ms(answered, 3_000) == latest_timeout_ms(None, 3_000) == 0
