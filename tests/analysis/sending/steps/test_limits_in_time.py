"""Exact limits of faults, torn and idle connections, and fault periods."""

import pyarrow as pa
import pytest

from rocketdiff.analysis.fault_windows import FaultPeriods, FaultReach
from rocketdiff.analysis.sending.steps.excuses import HeldConnections
from rocketdiff.analysis.sending.steps.torn_connections import TornConnections
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.durations import Tearing

S, MS = 1_000_000_000, 1_000_000
SETTINGS = ClientSettings(send_msg_timeout_ms=500, retry_times_when_send_failed=1, retry_times_when_send_async_failed=3)
ATTEMPT_NS = 3_500 * MS
"""Timeout of 500 ms, plus 3 s to find an asynchronous request timed out."""

TIMED_OUT, REFUSED = "RemotingTimeoutException", "RemotingConnectException"


def fault(from_s: float, to_s: float | None, kind: FaultKind = FaultKind.PAUSE, node: str = "broker-b") -> FaultRecord:
    """A fault, uncertain for 1 ns at its start and end."""
    begin, end = round(from_s * S), None if to_s is None else round(to_s * S)
    return FaultRecord(1, kind, node, begin, begin + 1, None, None if end is None else end - 1, end, None)


@pytest.mark.parametrize(
    ("start_ns", "end_ns", "meets"),
    [
        (9 * S, 10 * S, False),
        (9 * S, 10 * S + 1, True),
        (10 * S - ATTEMPT_NS, 90 * S, False),
        (10 * S - ATTEMPT_NS + 1, 90 * S, True),
        (12 * S + ATTEMPT_NS - 1, 90 * S, True),
        (12 * S + ATTEMPT_NS, 90 * S, False),
    ],
)
def test_which_part_of_a_fault_an_attempt_meets(start_ns: int, end_ns: int, meets: bool) -> None:
    """An attempt meets a fault (10 to 12 s) up to 3.5 s, the longest attempt, before and after it."""
    reach = FaultReach.of_attempts([fault(10, 12)], SETTINGS)
    assert reach.lasting_ns == ATTEMPT_NS
    assert reach.meets(start_ns, end_ns) is meets
    assert not reach.meets(start_ns, end_ns, "broker-a")


def test_an_asynchronous_send_lasts_as_long_as_all_its_attempts() -> None:
    """Three retries make an asynchronous send last up to four attempts."""
    assert FaultReach.of_sends([], SETTINGS).lasting_ns == 4 * ATTEMPT_NS


@pytest.mark.parametrize(
    ("faults", "spans"),
    [
        ([], ()),
        ([fault(30, 31), fault(10, 12)], ((10 * S, 12 * S), (30 * S, 31 * S))),
        ([fault(10, 12), fault(11, 15), fault(14, 14.5)], ((10 * S, 15 * S),)),
        ([fault(10, 20), fault(11, 12)], ((10 * S, 20 * S),)),
        ([fault(10, 12), fault(12, 13)], ((10 * S, 12 * S), (12 * S, 13 * S))),
        ([fault(10, None), fault(12, 13)], ((10 * S, None),)),
        ([fault(10, 12), fault(11, None)], ((10 * S, None),)),
    ],
)
def test_faults_that_overlap_are_one_spell(
    faults: list[FaultRecord], spans: tuple[tuple[int, int | None], ...]
) -> None:
    """Overlapping faults are one period, adjacent ones two; a fault never healed takes all later ones."""
    assert FaultPeriods.of(faults, SETTINGS).spans == spans


@pytest.mark.parametrize(
    ("start_ns", "end_ns", "spell"),
    [
        (8 * S, 10 * S, None),
        (8 * S, 10 * S + 1, 0),
        (11 * S, 11 * S + 1, 0),
        (12 * S + 4 * ATTEMPT_NS - 1, 28 * S, 0),
        (12 * S + 4 * ATTEMPT_NS, 28 * S, None),
        (11 * S, 40 * S + 1, 1),
        (39 * S, 40 * S, None),
        (900 * S, 901 * S, 1),
    ],
)
def test_a_send_belongs_to_the_last_spell_that_may_have_touched_it(
    start_ns: int, end_ns: int, spell: int | None
) -> None:
    """A send belongs to the last period that may affect it, until 14 s after a heal at 12 s."""
    spells = FaultPeriods.of([fault(10, 12), fault(40, None)], SETTINGS)
    assert spells.lasting_ns == 4 * ATTEMPT_NS
    assert spells.at(start_ns, end_ns) == spell


def test_the_longer_of_both_kinds_of_retries_counts() -> None:
    """The larger number of retries counts: five synchronous ones are six attempts."""
    more = ClientSettings(send_msg_timeout_ms=500, retry_times_when_send_failed=5)
    assert FaultPeriods.of([], more).lasting_ns == 6 * ATTEMPT_NS


def rows(*each: tuple[str, int, str | None, int]) -> pa.Table:
    """Broker, end in ns, error, thread."""
    broker, end_ns, error, thread = (list(column) for column in zip(*each, strict=True))
    word = pa.dictionary(pa.int32(), pa.string())
    return pa.table(
        {
            "broker": pa.array(broker).cast(word),
            "end_ns": pa.array(end_ns, pa.int64()),
            "thread": pa.array(thread, pa.int32()),
            "error": pa.array(error, pa.string()).cast(word),
        }
    )


@pytest.mark.parametrize(
    ("end_ns", "thread", "torn"),
    [
        (9 * S - 1, 1, False),
        (9 * S, 1, True),
        (11 * S - 1, 1, True),
        (11 * S, 1, False),
        (11 * S - 20 * MS, 0, True),
        (11 * S - 20 * MS - 1, 0, False),
    ],
)
def test_when_another_end_may_have_torn_a_request(end_ns: int, thread: int, torn: bool) -> None:
    """Another thread's timeout tears a request (10 to 11 s) from 1 s before it, its own thread's in its last 20 ms."""
    closed = TornConnections(rows(("broker-b", end_ns, TIMED_OUT, thread)), [], Tearing(True, True))
    assert closed.may_have_torn(0, "broker-b", 10 * S, 11 * S) is torn
    assert not closed.may_have_torn(0, "broker-a", 10 * S, 11 * S)


def test_who_keeps_pending_requests_tears_none_and_still_loses_connections() -> None:
    """Before 4.3.0 a kill closes the connection, but pending requests remain."""
    closed = TornConnections(None, [fault(10, None, FaultKind.KILL)], Tearing(False, True))
    assert not closed.may_have_torn(0, "broker-b", 10 * S, 11 * S)
    assert (closed.are_kept("broker-b"), closed.are_kept("broker-a")) == (False, True)


def test_a_kill_tears_requests_of_every_thread() -> None:
    """A kill tears requests of every thread that began within a second after it."""
    closed = TornConnections(None, iter([fault(10, None, FaultKind.KILL)]), Tearing(True, True))
    assert not closed.are_kept("broker-b")
    assert closed.may_have_torn(0, "broker-b", 11 * S, 12 * S) and closed.may_have_torn(5, "broker-b", 9 * S, 12 * S)
    assert not closed.may_have_torn(0, "broker-b", 11 * S + 1, 12 * S)


@pytest.mark.parametrize(
    ("answered_ns", "closed_ns", "held"),
    [
        (10 * S, None, True),
        (10 * S + 1, None, False),
        (10 * S - 60 * S, None, True),
        (10 * S - 60 * S - 1, None, False),
        (9 * S, 8 * S - 1, True),
        (9 * S, 8 * S, False),
        (9 * S, 11 * S - 1, False),
        (9 * S, 11 * S, True),
    ],
)
def test_since_when_a_connection_is_held(answered_ns: int, closed_ns: int | None, held: bool) -> None:
    """A connection is held for a minute after an answer, unless closed from 1 s before that answer on."""
    reported: list[tuple[str, int, str | None, int]] = [("broker-b", answered_ns, None, 0)]
    reported += [] if closed_ns is None else [("broker-b", closed_ns, REFUSED, 1)]
    assert HeldConnections(rows(*reported), []).is_held("broker-b", 10 * S, 11 * S) is held


@pytest.mark.parametrize(
    ("from_s", "to_s", "held"), [(11, None, True), (10.5, None, False), (5, 8, True), (5, 8.5, False), (5, None, False)]
)
def test_a_kill_costs_the_connection_while_it_lasts(from_s: float, to_s: float | None, held: bool) -> None:
    """A kill between the second before the answer (9 s) and the attempt's end (11 s) closes the connection."""
    held_connections = HeldConnections(rows(("broker-b", 9 * S, None, 0)), [fault(from_s, to_s, FaultKind.KILL)])
    assert held_connections.is_held("broker-b", 10 * S, 11 * S) is held
