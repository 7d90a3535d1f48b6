"""The exact limits of every cause of a failure, on literal attempts."""

from dataclasses import replace

import pytest

from rocketdiff.analysis.sending.steps.causes import Cause, Causes
from rocketdiff.core.records.sending import UNSEEN_END
from rocketdiff.core.tables.fault import FaultKind, FaultRecord
from rocketdiff.core.tables.settings import ClientSettings
from tests.analysis.builders import ENTRY, MS, S, fault
from tests.analysis.trace_builders import SLOW, ended_attempts

LOST, CONNECT = "RemotingSendRequestException", "RemotingConnectException"
LATE = "RemotingTooMuchRequestException"
REFUSED, WRAPPED = "MQBrokerException", "MQClientException"
BEGIN, END = 10 * S, 10 * S + 60 * MS
"""The judged attempt, of thread 0 at broker-b."""

CAUSED = 9 * S - 500 * MS
"""Start of most other attempts, early enough for a timeout of 500 ms."""

Row = tuple[int, int, int, str]
"""Thread, start and end in ns, error."""


def causes(
    *faults: FaultRecord,
    rows: tuple[Row, ...] = (),
    timeout_ms: int = 500,
    topology: str = "two-masters",
    timeouts_close: bool = True,
) -> Causes:
    entry = replace(ENTRY, settings=ClientSettings(send_msg_timeout_ms=timeout_ms), topology=topology)
    attempts = ended_attempts(*((thread, "broker-b", start, end, error) for thread, start, end, error in rows))
    return Causes(attempts if rows else None, faults, entry, timeouts_close=timeouts_close)


def of(
    known: Causes, error: str | None = LOST, *, thread: int = 0, broker: str = "broker-b", is_asynchronous: bool = False
) -> Cause:
    return known.of(thread, broker, BEGIN, END, error, is_asynchronous=is_asynchronous)


@pytest.mark.parametrize("error", [LOST, CONNECT])
@pytest.mark.parametrize(
    ("closed_ns", "thread", "cause"),
    [
        (BEGIN - S - 1, 1, Cause.NONE),
        (BEGIN - S, 1, Cause.TORN),
        (END + 20 * MS - 1, 1, Cause.TORN),
        (END + 20 * MS, 1, Cause.NONE),
        (END - 20 * MS - 1, 0, Cause.NONE),
        (END - 20 * MS, 0, Cause.TORN),
        (END - 1, 0, Cause.TORN),
        (END, 0, Cause.NONE),
    ],
)
def test_when_a_timeout_may_have_torn_an_attempt(closed_ns: int, thread: int, cause: Cause, error: str) -> None:
    """Another thread's timeout tears from 1 s before to 20 ms after the attempt, its own thread's in its last 20 ms."""
    known = causes(rows=((thread, closed_ns - 500 * MS, closed_ns, SLOW),))
    assert of(known, error) is cause
    assert of(known, error, broker="broker-a") is Cause.NONE


@pytest.mark.parametrize("error", [LOST, CONNECT])
@pytest.mark.parametrize(
    ("inject_ns", "healed_ns", "kind", "node", "cause"),
    [
        (END - 1, None, FaultKind.PAUSE, "broker-b", Cause.FAULT),
        (END, None, FaultKind.PAUSE, "broker-b", Cause.NONE),
        (S, BEGIN - 3_500 * MS + 1, FaultKind.PAUSE, "broker-b", Cause.FAULT),
        (S, BEGIN - 3_500 * MS, FaultKind.PAUSE, "broker-b", Cause.NONE),
        (S, None, FaultKind.PAUSE, "broker-a", Cause.NONE),
        (S, None, FaultKind.FLOW_CONTROL, "broker-b", Cause.NONE),
    ],
)
def test_a_connection_is_lost_to_a_fault_of_its_broker_or_to_nothing(
    inject_ns: int, healed_ns: int | None, kind: FaultKind, node: str, cause: Cause, error: str
) -> None:
    """A lost connection is due to a fault of its own broker until a timeout plus 3 s after the heal."""
    assert of(causes(fault(inject_ns, healed_ns, kind, node)), error) is cause


@pytest.mark.parametrize("error", [SLOW, LATE])
def test_time_that_was_up_early_may_be_a_torn_connection(error: str) -> None:
    """An early timeout may be due to a torn connection, otherwise to the machine."""
    assert of(causes(rows=((1, CAUSED, 9 * S + MS, SLOW),)), error) is Cause.TORN
    assert of(causes(), error) is Cause.MACHINE


@pytest.mark.parametrize(("timeout_ms", "cause"), [(299, Cause.TORN), (300, Cause.NONE)])
def test_below_300_ms_timeouts_tear_connections_at_any_time(timeout_ms: int, cause: Cause) -> None:
    """With a timeout below 300 ms any earlier timeout at the broker tears, even 8 s before."""
    assert of(causes(rows=((0, S, 2 * S, SLOW),), timeout_ms=timeout_ms)) is cause
    assert of(causes(rows=((0, S, 2 * S, SLOW),), timeout_ms=timeout_ms), broker="broker-a") is Cause.NONE
    assert of(causes(rows=((0, END, END, SLOW),), timeout_ms=timeout_ms)) is Cause.NONE


@pytest.mark.parametrize(
    ("error", "timeouts_close", "closes"),
    [
        (SLOW, True, True),
        (SLOW, False, False),
        (LATE, True, True),
        (LATE, False, False),
        (UNSEEN_END, True, True),
        (UNSEEN_END, False, False),
        (REFUSED, True, False),
        (WRAPPED, True, False),
    ],
)
def test_ends_that_close_a_connection(error: str, timeouts_close: bool, closes: bool) -> None:
    """Timeouts and unseen ends close a connection if the release says so; refusals never do."""
    rows = ((1, CAUSED, 9 * S + MS, error),)
    assert of(causes(rows=rows, timeouts_close=timeouts_close)) is (Cause.TORN if closes else Cause.NONE)


@pytest.mark.parametrize(("took_ns", "cause"), [(500 * MS, Cause.TORN), (500 * MS - 1, Cause.NONE)])
def test_an_unseen_end_is_a_timeout_after_its_time(took_ns: int, cause: Cause) -> None:
    """An unseen end closes the connection only after 500 ms, the timeout."""
    assert of(causes(rows=((1, 9 * S + MS - took_ns, 9 * S + MS, UNSEEN_END),))) is cause


def test_a_loss_by_a_fault_tears_others_and_one_for_nothing_does_not() -> None:
    """A loss due to a pause of its broker tears later requests; a loss without a cause does not."""
    pause = fault(4 * S, 5 * S)
    rows = ((1, 8 * S + 400 * MS, 9 * S + MS, LOST),)
    assert of(causes(pause, rows=rows)) is Cause.TORN
    assert of(causes(rows=rows)) is Cause.NONE
    assert of(causes(fault(4 * S, 5 * S, node="broker-a"), rows=rows)) is Cause.NONE


def test_losses_with_a_cause_are_followed_from_one_to_the_next() -> None:
    """Causes form a chain in any row order: a timeout at 7.5 s tears a request, whose end at 8.4 s tears the next."""
    rows = ((1, 7 * S, 7 * S + 500 * MS, SLOW), (2, 8 * S, 8 * S + 400 * MS, LOST), (3, 9 * S, 9 * S + 300 * MS, LOST))
    for each in (rows, rows[::-1]):
        assert of(causes(rows=each)) is Cause.TORN


@pytest.mark.parametrize(("thread", "cause"), [(0, Cause.NONE), (1, Cause.TORN)])
def test_asynchronous_requests_tear_each_other_whichever_thread_made_them(thread: int, cause: Cause) -> None:
    """An earlier timeout of its own thread tears an asynchronous request, not a synchronous one."""
    rows = ((thread, CAUSED, 9 * S + 500 * MS, SLOW),)
    assert of(causes(rows=rows)) is cause
    assert of(causes(rows=rows), is_asynchronous=True) is Cause.TORN


@pytest.mark.parametrize("error", [UNSEEN_END, WRAPPED, "CompletionException"])
def test_an_asynchronous_attempt_may_hide_its_end(error: str) -> None:
    """Unseen and wrapped errors hide the cause of an asynchronous attempt only; no torn connection ends in them."""
    assert of(causes(), error, is_asynchronous=True) is Cause.UNTOLD
    assert of(causes(), error) is Cause.NONE
    assert of(causes(rows=((1, CAUSED, 9 * S + MS, SLOW),)), error) is Cause.NONE
    assert of(causes(), LOST, is_asynchronous=True) is Cause.NONE


def test_an_end_that_is_none_has_no_cause() -> None:
    """SEND_OK, or no end at all, has no cause."""
    known = causes(fault(9 * S, 11 * S))
    assert known.of(0, "broker-b", BEGIN, END, None, None, "SEND_OK") is Cause.UNTOLD
    assert known.of(0, "broker-b", BEGIN, END, None) is Cause.UNTOLD


@pytest.mark.parametrize(
    ("kind", "node", "inject_ns", "cause"),
    [
        (FaultKind.PAUSE_SLAVE, "broker-b-slave-1", BEGIN + 500 * MS - 1, Cause.FAULT),
        (FaultKind.PAUSE_SLAVE, "broker-b-slave-1", BEGIN + 500 * MS, Cause.NONE),
        (FaultKind.KILL_SLAVE, "broker-b-slave-1", S, Cause.FAULT),
        (FaultKind.PAUSE_SLAVE, "broker-a-slave-1", S, Cause.NONE),
        (FaultKind.KILL, "broker-b", S, Cause.FAULT),
        (FaultKind.FLUSH_TIMEOUT, "broker-b", S, Cause.FAULT),
        (FaultKind.READ_ONLY, "broker-b", S, Cause.NONE),
        (FaultKind.FLOW_CONTROL, "broker-b", S, Cause.NONE),
    ],
)
def test_a_reserve_needs_a_fault_of_the_pair(kind: FaultKind, node: str, inject_ns: int, cause: Cause) -> None:
    """A reserve is due to an outage of the pair begun within a timeout, even if healed; not to read-only or flow control."""
    known = causes(fault(inject_ns, inject_ns + 2, kind, node))
    assert known.of(0, "broker-b", BEGIN, END, None, None, "SLAVE_NOT_AVAILABLE") is cause


@pytest.mark.parametrize(
    ("topology", "cause"),
    [
        ("master-with-slave-sync", Cause.MACHINE),
        ("two-masters-sync-flush", Cause.MACHINE),
        ("master-with-slave-async", Cause.NONE),
        ("two-masters", Cause.NONE),
        ("sync-two-masters", Cause.NONE),
    ],
)
def test_only_who_waits_waits_in_vain(topology: str, cause: Cause) -> None:
    """Only a deployment that waits for a slave or the disk has reserves due to the machine."""
    assert causes(topology=topology).of(0, "broker-b", BEGIN, END, None, None, "FLUSH_DISK_TIMEOUT") is cause


@pytest.mark.parametrize(
    ("kind", "node", "inject_ns", "code", "cause"),
    [
        (FaultKind.KILL, "broker-b", END - 1, 17, Cause.FAULT),
        (FaultKind.KILL, "broker-b", END, 17, Cause.NONE),
        (FaultKind.KILL, "broker-a", S, 17, Cause.NONE),
        (FaultKind.PAUSE_SLAVE, "broker-b-slave-1", S, 17, Cause.FAULT),
        (FaultKind.KILL_SLAVE, "broker-b-slave-1", S, 10, Cause.FAULT),
        (FaultKind.KILL_SLAVE, "broker-a-slave-1", S, 10, Cause.NONE),
        (FaultKind.READ_ONLY, "broker-b", END - 1, 16, Cause.FAULT),
        (FaultKind.READ_ONLY, "broker-b", END, 16, Cause.NONE),
        (FaultKind.READ_ONLY, "broker-b", S, 15, Cause.NONE),
        (FaultKind.READ_ONLY, "broker-b", S, 17, Cause.NONE),
        (FaultKind.PAUSE, "broker-b", S, 16, Cause.NONE),
        (FaultKind.PAUSE, "broker-b", BEGIN, 2, Cause.FAULT),
        (FaultKind.PAUSE, "broker-b", BEGIN, 50_400, Cause.FAULT),  # a broker that is a proxy too
        (FaultKind.PAUSE, "broker-b", BEGIN, 50_000, Cause.FAULT),
        (FaultKind.PAUSE, "broker-b", BEGIN, 49_999, Cause.NONE),
        (FaultKind.PAUSE, "broker-a", BEGIN, 50_400, Cause.MACHINE),
        (FaultKind.WIRE_RESET, "broker-b", BEGIN, 14, Cause.NONE),
        (FaultKind.FLOW_CONTROL, "broker-b", BEGIN, 2, Cause.FAULT),
        (FaultKind.FLOW_CONTROL, "broker-b", BEGIN, 1, Cause.FAULT),
        (FaultKind.FLOW_CONTROL, "broker-a", BEGIN, 1, Cause.MACHINE),
        (FaultKind.FLOW_CONTROL, "broker-a", BEGIN, 2, Cause.MACHINE),
        (FaultKind.FLOW_CONTROL, "broker-b", S, 2, Cause.MACHINE),
        (FaultKind.FLOW_CONTROL, "broker-b", BEGIN, 3, Cause.NONE),
        (FaultKind.FLOW_CONTROL, "broker-b", BEGIN, 0, Cause.NONE),
    ],
)
def test_answers_of_a_broker(kind: FaultKind, node: str, inject_ns: int, code: int, cause: Cause) -> None:
    """Each fault explains its own codes at its own broker; flow control nine seconds ago explains none."""
    assert causes(fault(inject_ns, inject_ns + 2, kind, node)).of(0, "broker-b", BEGIN, END, REFUSED, code) is cause


@pytest.mark.parametrize(("inject_ns", "cause"), [(END - 1, Cause.FAULT), (END, Cause.NONE)])
def test_a_send_that_tried_nothing_needs_a_fault_before_its_end(inject_ns: int, cause: Cause) -> None:
    """A send without an attempt is due to an earlier fault; without one its timeout is due to the machine."""
    known = causes(fault(inject_ns, None, node="broker-a"))
    assert known.of_no_attempt("MQClientException", END) is cause
    for error in (SLOW, LATE):
        assert causes().of_no_attempt(error, END) is Cause.MACHINE
    assert causes().of_no_attempt(None, END) is Cause.NONE
