"""A request may end early because another one closed its connection, not by giving up."""

import pytest

from rocketdiff.analysis.sending.steps.torn_connections import TornConnections
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.oracle.producer.durations import Tearing
from rocketmq_reference.dialects import dialect_of
from tests.analysis.builders import MS, S, fault
from tests.analysis.trace_builders import SLOW, ended_attempts

TEARS = (FaultKind.KILL, FaultKind.MOVE, FaultKind.WIRE_RESET, FaultKind.KILL_PROXY)
LOST = "RemotingSendRequestException"
EVERY = Tearing(True, True)


def torn_by(end_ns: int, thread: int, error: str | None = SLOW, tearing: Tearing = EVERY) -> TornConnections:
    """Another attempt of broker-b ends so."""
    return TornConnections(ended_attempts((thread, "broker-b", 0, end_ns, error)), (), tearing)


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
    closed = torn_by(end_ns, thread)
    assert closed.may_have_torn(0, "broker-b", 10 * S, 11 * S) is torn
    assert not closed.may_have_torn(0, "broker-a", 10 * S, 11 * S)


def test_requests_of_a_table_end_in_any_order() -> None:
    """Of ends at 10.5, 1 and 2 s the first tears a request from 10 to 11 s."""
    ends = ended_attempts(*((1, "broker-b", 0, end_ns, SLOW) for end_ns in (10 * S + 500 * MS, S, 2 * S)))
    assert TornConnections(ends, (), EVERY).may_have_torn(0, "broker-b", 10 * S, 11 * S)


@pytest.mark.parametrize(
    ("release", "error", "torn"),
    [
        ("4.2.0", SLOW, False),
        ("4.2.0", LOST, False),
        ("4.9.0", SLOW, False),
        ("4.9.0", LOST, True),
        ("4.9.1", SLOW, True),
        ("4.9.1", LOST, True),
        ("4.9.1", "MQBrokerException", False),
        ("4.9.1", None, False),
    ],
)
def test_a_release_closes_connections_by_its_rules(release: str, error: str | None, torn: bool) -> None:
    """Timeouts close a connection from 4.9.1 on; before 4.3.0 a request outlives its connection."""
    closed = torn_by(10 * S, 1, error, Tearing.of(dialect_of(release).client.remoting))
    assert closed.may_have_torn(0, "broker-b", 10 * S, 11 * S) is torn


@pytest.mark.parametrize("kind", FaultKind)
def test_a_dead_broker_tears_its_connections_and_a_paused_one_keeps_them(kind: FaultKind) -> None:
    """A kill or reset tears requests of every thread begun within a second; a paused broker's kernel keeps connections."""
    faults: list[FaultRecord] = [fault(10 * S, 12 * S, kind)]
    closed = TornConnections(None, iter(faults), EVERY)
    torn = [closed.may_have_torn(*at, 12 * S) for at in ((0, "broker-b", 11 * S), (5, "broker-b", 9 * S))]
    assert torn == [kind in TEARS] * 2
    assert not closed.may_have_torn(0, "broker-b", 11 * S + 1, 12 * S)
    assert not closed.may_have_torn(0, "broker-a", 11 * S, 12 * S)


def test_a_release_that_keeps_pending_requests_tears_none_and_still_loses_connections() -> None:
    """Before 4.3.0 a kill closes the connection, but pending requests remain."""
    closed = TornConnections(None, [fault(10 * S, None, FaultKind.KILL)], Tearing(False, True))
    assert not closed.may_have_torn(0, "broker-b", 10 * S, 11 * S)
    assert (closed.are_kept("broker-b"), closed.are_kept("broker-a")) == (False, True)
