"""
Defects that consist in what a client tells: each changes the records of some sends, of whatever client tells them.

A lie is one entry of ``LIES``, and by that a toy (``toy:<name>``) and, in the tests, a defect of the offline bank.
The file is long because it is one table.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from rocketdiff.core.records import Attempt, Record, Send

PERIOD = 10
_MS = 1_000_000
_LOST, _TIMEOUT, _BROKER = "RemotingSendRequestException", "RemotingTimeoutException", "MQBrokerException"

Change = Callable[[Attempt | Send], Record | None]
"""What is told instead of a record; None: nothing."""


class Kind(Enum):
    """What a defect is about."""

    OUTCOME = "outcome"
    STATUS = "status"
    PLACE = "place"
    ATTEMPTS = "attempts"
    ERROR = "error"
    TIMING = "timing"
    CONTENT = "content"
    STORAGE = "storage"
    ORDER = "order"
    MODES = "modes"
    THREADS = "threads"


@dataclass(frozen=True, slots=True)
class Lie:
    """One defect. checks: any of them must find it; needs_failure: shows only at sends of which an attempt failed."""

    kind: Kind
    sentence: str
    checks: tuple[str, ...]
    change: Change
    needs_failure: bool = False
    every: int = PERIOD


def strikes(send: int) -> bool:
    """Whether a defect shows at this send: 9, 19, 29, …"""
    return send % PERIOD == PERIOD - 1


def told(lie: Lie, record: Record) -> Record | None:
    """What a client with this defect says where another says ``record``."""
    if isinstance(record, Attempt | Send) and record.send % lie.every == lie.every - 1:
        return lie.change(record)
    return record


def _fails(error: str, code: int | None = None) -> Change:
    def change(one: Attempt | Send) -> Record:
        if one.error is not None:
            return one
        if isinstance(one, Send):
            return replace(one, error=error, code=code, status=None, broker=None, queue_id=None, queue_offset=None)
        return replace(one, error=error, code=code, status=None)

    return change


def _status(status: str | None, *, in_attempts: bool = True, in_results: bool = True) -> Change:
    def change(one: Attempt | Send) -> Record:
        wanted = in_results if isinstance(one, Send) else in_attempts
        return replace(one, status=status) if wanted and one.status is not None else one

    return change


def _result(change: Callable[[Send], Send]) -> Change:
    """Of a call that returned a result."""
    return lambda one: change(one) if isinstance(one, Send) and one.error is None else one


def _raised(change: Callable[[Send], Send]) -> Change:
    """Of a call that threw."""
    return lambda one: change(one) if isinstance(one, Send) and one.error is not None else one


def _attempt(change: Callable[[Attempt], Attempt | None]) -> Change:
    return lambda one: change(one) if isinstance(one, Attempt) else one


def _other(broker: str | None) -> str | None:
    return {"broker-a": "broker-b", "broker-b": "broker-a"}.get(broker or "", broker)


def _next(queue_id: int | None) -> int | None:
    return None if queue_id is None else (queue_id + 1) % 4


def _moved(one: Attempt | Send) -> Record:
    return (
        replace(one, broker=_other(one.broker))
        if isinstance(one, Send)
        else replace(one, broker=_other(one.broker) or "")
    )


def _lasting(share: float) -> Callable[[Attempt], Attempt]:
    """Attempts that timed out are told to have taken this share of their time."""

    def change(one: Attempt) -> Attempt:
        took_ns = round((one.end_ns - one.start_ns) * share)
        return replace(one, end_ns=one.start_ns + took_ns) if one.error else one

    return change


_CALM = ("outcomes",)
_WITNESS = ("queue-choice",)

LIES: Mapping[str, Lie] = {
    "loses-connections": Lie(Kind.OUTCOME, "loses the connection of some sends for no reason", _CALM, _fails(_LOST)),
    "cannot-connect": Lie(
        Kind.OUTCOME, "cannot connect for some sends, to brokers that are up", _CALM, _fails("RemotingConnectException")
    ),
    "fails-often": Lie(Kind.OUTCOME, "loses the connection of every second send", _CALM, _fails(_LOST), every=2),
    "fails-always": Lie(Kind.OUTCOME, "loses the connection of every send", _CALM, _fails(_LOST), every=1),
    "fails-rarely": Lie(Kind.OUTCOME, "loses the connection of one send in fifty", _CALM, _fails(_LOST), every=50),
    "says-busy": Lie(Kind.OUTCOME, "is told by no broker that it is busy, and says so", _CALM, _fails(_BROKER, 2)),
    "says-system-error": Lie(Kind.OUTCOME, "invents SYSTEM_ERROR of a broker", _CALM, _fails(_BROKER, 1)),
    "says-not-available": Lie(Kind.OUTCOME, "invents SERVICE_NOT_AVAILABLE of a broker", _CALM, _fails(_BROKER, 14)),
    "says-no-permission": Lie(Kind.OUTCOME, "invents NO_PERMISSION of a broker", _CALM, _fails(_BROKER, 16)),
    "says-no-topic": Lie(Kind.OUTCOME, "invents TOPIC_NOT_EXIST of a broker", _CALM, _fails(_BROKER, 17)),
    "says-timeout": Lie(
        Kind.OUTCOME, "says timeout of answers that came in a millisecond", (*_CALM, "attempts"), _fails(_TIMEOUT)
    ),
    "null-pointer": Lie(
        Kind.OUTCOME, "throws NullPointerException", (*_CALM, "error-kind", "attempts"), _fails("NullPointerException")
    ),
    "interrupted": Lie(
        Kind.OUTCOME,
        "throws InterruptedException though nobody interrupts it",
        (*_CALM, "error-kind", "attempts"),
        _fails("InterruptedException"),
    ),
    "flush-disk": Lie(
        Kind.STATUS,
        "returns FLUSH_DISK_TIMEOUT for SEND_OK",
        ("error-kind", "attempts", "outcomes", "queue-choice"),
        _status("FLUSH_DISK_TIMEOUT"),
    ),
    "flush-slave": Lie(
        Kind.STATUS,
        "returns FLUSH_SLAVE_TIMEOUT for SEND_OK",
        ("error-kind", "attempts", "outcomes", "queue-choice"),
        _status("FLUSH_SLAVE_TIMEOUT"),
    ),
    "no-slave": Lie(
        Kind.STATUS,
        "returns SLAVE_NOT_AVAILABLE for SEND_OK",
        ("error-kind", "attempts", "outcomes", "queue-choice"),
        _status("SLAVE_NOT_AVAILABLE"),
    ),
    "result-status": Lie(
        Kind.STATUS,
        "returns another status than its attempt got",
        ("error-kind", "attempts"),
        _status("FLUSH_DISK_TIMEOUT", in_attempts=False),
    ),
    "attempt-status": Lie(
        Kind.STATUS,
        "returns SEND_OK for an attempt that got another status",
        ("error-kind", "attempts"),
        _status("FLUSH_DISK_TIMEOUT", in_results=False),
    ),
    "next-queue": Lie(
        Kind.PLACE,
        "names the next queue in its result",
        (*_WITNESS, "loss", "error-kind"),
        _result(lambda one: replace(one, queue_id=_next(one.queue_id))),
    ),
    "attempt-queue": Lie(
        Kind.PLACE,
        "names the next queue in its attempt",
        _WITNESS,
        _attempt(lambda one: replace(one, queue_id=(one.queue_id + 1) % 4)),
    ),
    "other-broker": Lie(
        Kind.PLACE,
        "names the other broker in its result",
        (*_WITNESS, "loss", "error-kind"),
        _result(lambda one: replace(one, broker=_other(one.broker))),
    ),
    "attempt-broker": Lie(
        Kind.PLACE,
        "names the other broker in its attempt",
        _WITNESS,
        _attempt(lambda one: replace(one, broker=_other(one.broker) or "")),
    ),
    "moves": Lie(Kind.PLACE, "names the other broker everywhere", _WITNESS, _moved),
    "no-such-broker": Lie(
        Kind.PLACE, "names a broker that there is not", _WITNESS, _result(lambda one: replace(one, broker="broker-z"))
    ),
    "no-such-queue": Lie(
        Kind.PLACE, "names a queue that there is not", _WITNESS, _result(lambda one: replace(one, queue_id=99))
    ),
    "next-offset": Lie(
        Kind.PLACE,
        "names the next offset",
        _WITNESS,
        _result(lambda one: replace(one, queue_offset=(one.queue_offset or 0) + 1)),
    ),
    "first-offset": Lie(
        Kind.PLACE, "names offset 0 in every result", _WITNESS, _result(lambda one: replace(one, queue_offset=0))
    ),
    "far-offset": Lie(
        Kind.PLACE,
        "names an offset that the queue has not reached",
        _WITNESS,
        _result(lambda one: replace(one, queue_offset=77_777)),
    ),
    "hides-attempts": Lie(
        Kind.ATTEMPTS,
        "tells no attempt of some sends",
        ("attempts", "queue-choice", "duplication", "outcomes"),
        _attempt(lambda _one: None),
    ),
    "hides-first-attempt": Lie(
        Kind.ATTEMPTS,
        "does not tell the first of two attempts",
        ("attempts", "queue-choice", "duplication"),
        _attempt(lambda one: None if one.error else one),
        needs_failure=True,
        every=1,
    ),
    "tells-failures-as-ok": Lie(
        Kind.ATTEMPTS,
        "tells attempts that timed out as answered",
        ("attempts", "duplication", "outcomes"),
        _attempt(lambda one: replace(one, error=None, status="SEND_OK")),
        needs_failure=True,
        every=1,
    ),
    "ok-for-failed": Lie(
        Kind.ERROR,
        "returns SEND_OK where it should throw",
        ("attempts", "error-kind", "outcomes"),
        _raised(
            lambda one: replace(
                one, error=None, cause=None, code=None, status="SEND_OK", broker="broker-b", queue_id=0, queue_offset=0
            )
        ),
        needs_failure=True,
        every=1,
    ),
    "other-class": Lie(
        Kind.ERROR,
        "throws RuntimeException",
        ("error-kind",),
        _raised(lambda one: replace(one, error="RuntimeException")),
        needs_failure=True,
        every=1,
    ),
    "client-exception": Lie(
        Kind.ERROR,
        "throws MQBrokerException for whatever happened",
        ("error-kind",),
        _raised(lambda one: replace(one, error=_BROKER)),
        needs_failure=True,
        every=1,
    ),
    "other-cause": Lie(
        Kind.ERROR,
        "names a cause that no attempt had",
        ("error-kind",),
        _raised(lambda one: replace(one, cause="IOException")),
        needs_failure=True,
        every=1,
    ),
    "invents-code": Lie(
        Kind.ERROR,
        "throws with a code that nothing has given",
        ("error-kind",),
        _raised(lambda one: replace(one, code=4_711)),
        needs_failure=True,
        every=1,
    ),
    "attempt-error": Lie(
        Kind.ERROR,
        "says of timeouts that the connection was refused",
        ("attempts", "error-kind", "outcomes", "duplication"),
        _attempt(lambda one: replace(one, error="RemotingConnectException") if one.error else one),
        needs_failure=True,
        every=1,
    ),
    "half-a-timeout": Lie(
        Kind.TIMING,
        "gives up after half of its timeout",
        ("attempts",),
        _attempt(_lasting(0.5)),
        needs_failure=True,
        every=1,
    ),
    "no-patience": Lie(
        Kind.TIMING,
        "gives up after a hundredth of its timeout",
        ("attempts",),
        _attempt(_lasting(0.01)),
        needs_failure=True,
        every=1,
    ),
    "nearly-a-timeout": Lie(
        Kind.TIMING, "gives up five percent early", ("attempts",), _attempt(_lasting(0.95)), needs_failure=True, every=1
    ),
    "three-quarters": Lie(
        Kind.TIMING,
        "gives up after three quarters of its timeout",
        ("attempts",),
        _attempt(_lasting(0.75)),
        needs_failure=True,
        every=1,
    ),
}
