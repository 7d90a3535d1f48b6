"""The known causes of failed attempts, on literal faults and attempts."""

from dataclasses import replace

import pyarrow as pa
import pytest

from rocketdiff.analysis.sending.steps.causes import Cause, Causes
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from tests.analysis import builders

S = 1_000_000_000
LOST, CONNECT, SLOW = "RemotingSendRequestException", "RemotingConnectException", "RemotingTimeoutException"
REFUSED = "MQBrokerException"
ENTRY = replace(builders.ENTRY, settings=ClientSettings(send_msg_timeout_ms=1_000))


def fault(kind: FaultKind, node: str = "broker-b") -> FaultRecord:
    """A fault from 10 s to 12 s."""
    return FaultRecord(1, kind, node, 10 * S, 10 * S, 10 * S, 12 * S, 12 * S, 12 * S)


def causes(*faults: FaultRecord, topology: str = "two-masters", attempts: pa.Table | None = None) -> Causes:
    return Causes(attempts, faults, replace(ENTRY, topology=topology), timeouts_close=True)


def of(known: Causes, at_s: float, error: str | None, code: int | None = None, status: str | None = None) -> Cause:
    """The cause of an attempt of 1 ms at broker-b."""
    start_ns = round(at_s * S)
    return known.of(0, "broker-b", start_ns, start_ns + 1_000_000, error, code, status)


@pytest.mark.parametrize("error", [LOST, CONNECT])
def test_a_connection_is_lost_to_a_fault_of_its_broker_or_to_nothing(error: str) -> None:
    """A lost connection is due to a fault of its own broker until a timeout plus 3 s after the heal."""
    paused = causes(fault(FaultKind.PAUSE))
    assert [of(paused, at_s, error) for at_s in (9, 11, 15.9, 16.1)] == [
        Cause.NONE,
        Cause.FAULT,
        Cause.FAULT,
        Cause.NONE,
    ]
    assert of(causes(fault(FaultKind.PAUSE, "broker-a")), 11, error) is Cause.NONE
    assert of(causes(fault(FaultKind.FLOW_CONTROL)), 11, error) is Cause.NONE


def test_time_that_is_up_and_a_busy_broker_are_the_machines_doing() -> None:
    """Without a fault a timeout or a busy broker is due to the machine."""
    assert of(causes(), 5, SLOW) is Cause.MACHINE
    assert [of(causes(), 5, REFUSED, code) for code in (1, 2)] == [Cause.MACHINE, Cause.MACHINE]


@pytest.mark.parametrize(
    ("kind", "code", "cause"),
    [
        (FaultKind.READ_ONLY, 16, Cause.FAULT),
        (FaultKind.READ_ONLY, 17, Cause.NONE),
        (FaultKind.PAUSE, 16, Cause.NONE),
        (FaultKind.PAUSE, 2, Cause.FAULT),
        (FaultKind.PAUSE, 50_400, Cause.FAULT),  # a broker that is a proxy too
        (FaultKind.FLOW_CONTROL, 2, Cause.FAULT),
        (FaultKind.KILL, 17, Cause.FAULT),
        (FaultKind.WIRE_RESET, 14, Cause.NONE),
    ],
)
def test_an_answer_needs_a_fault_that_causes_it(kind: FaultKind, code: int, cause: Cause) -> None:
    """A response code is due only to a fault that makes a broker answer it."""
    assert of(causes(fault(kind)), 11, REFUSED, code) is cause


def test_a_reserve_needs_a_slave_or_a_disk_that_is_waited_for() -> None:
    """A reserve is due to a fault of the pair, or to the machine if the deployment waits for a slave or disk."""
    status = "FLUSH_SLAVE_TIMEOUT"
    assert of(causes(), 5, None, status=status) is Cause.NONE
    assert of(causes(topology="master-with-slave-async"), 5, None, status=status) is Cause.NONE
    assert of(causes(topology="master-with-slave-sync"), 5, None, status=status) is Cause.MACHINE
    assert of(causes(fault(FaultKind.PAUSE_SLAVE, "broker-b-slave-1")), 30, None, status=status) is Cause.FAULT


def attempts(*rows: tuple[int, float, float, str]) -> pa.Table:
    """Thread, start and end in seconds, error; all at broker-b."""
    threads, starts, ends, errors = zip(*rows, strict=True)
    return pa.table(
        {
            "thread": threads,
            "broker": ["broker-b"] * len(rows),
            "start_ns": [round(start * S) for start in starts],
            "end_ns": [round(end * S) for end in ends],
            "error": errors,
        }
    )


def test_a_timeout_tears_the_connection_of_others() -> None:
    """A timeout tears other threads' requests within a second, its own thread's only at once."""
    known = causes(attempts=attempts((1, 4.0, 5.0, SLOW)))
    assert of(known, 5.3, LOST) is Cause.TORN
    assert of(known, 6.3, LOST) is Cause.NONE
    assert known.of(1, "broker-b", round(5.3 * S), round(5.301 * S), LOST) is Cause.NONE
    assert known.of(1, "broker-b", 5 * S, 5 * S + 3_000_000, LOST) is Cause.TORN


def test_a_closing_attempt_may_be_reported_after_those_that_lost_it() -> None:
    """A timeout of another thread may end up to 20 ms after the request that it tore."""
    assert of(causes(attempts=attempts((1, 4.0, 5.020, SLOW))), 5, LOST) is Cause.TORN
    assert of(causes(attempts=attempts((1, 4.0, 5.022, SLOW))), 5, LOST) is Cause.NONE
    assert of(causes(attempts=attempts((0, 5.002, 5.010, SLOW))), 5, LOST) is Cause.NONE
    assert of(causes(attempts=attempts((1, 5.0, 5.010, LOST))), 5, LOST) is Cause.NONE


def test_a_loss_without_a_cause_excuses_no_other() -> None:
    """A loss without a cause explains no later loss."""
    known = causes(attempts=attempts((1, 5.0, 5.001, LOST), (2, 5.1, 5.101, LOST)))
    assert of(known, 5.2, LOST) is Cause.NONE


def test_a_send_without_an_attempt_needs_a_fault_before_its_end() -> None:
    """A send without an attempt is due to any earlier fault: its route may stay lost."""
    known = causes(fault(FaultKind.PAUSE_NAME_SERVER, "namesrv-1"))
    assert known.of_no_attempt("MQClientException", 9 * S) is Cause.NONE
    assert known.of_no_attempt("MQClientException", 60 * S) is Cause.FAULT
    assert known.of_no_attempt("RemotingTooMuchRequestException", 9 * S) is Cause.MACHINE
