"""
Defects in what a client reports, not in what it does; each changes the records of some sends.

Each entry of ``REPORTED_DEFECTS`` is a toy (``toy:<name>``) and, in the tests, a defect of the offline bank.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import Attempt, Send

PERIOD = 10
_LOST, _TIMEOUT, _BROKER = "RemotingSendRequestException", "RemotingTimeoutException", "MQBrokerException"

Change = Callable[[Attempt | Send], Record | None]
"""Returns the record to report instead, or None to report none."""


class DefectKind(Enum):
    """Subject matter of the changed records."""

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
class ReportedDefect:
    """One defect. checks: at least one must find it. needs_failure: it shows only at sends with a failed attempt."""

    kind: DefectKind
    sentence: str
    checks: tuple[str, ...]
    change: Change
    needs_failure: bool = False
    every: int = PERIOD


def _of_failures(kind: DefectKind, sentence: str, checks: tuple[str, ...], change: Change) -> ReportedDefect:
    return ReportedDefect(kind, sentence, checks, change, needs_failure=True, every=1)


def strikes(send: int) -> bool:
    """True for the sends with a defect: 9, 19, 29, …"""
    return send % PERIOD == PERIOD - 1


def reported(defect: ReportedDefect, record: Record) -> Record | None:
    """Return the record that a client with this defect reports instead of ``record``."""
    if isinstance(record, Attempt | Send) and record.send % defect.every == defect.every - 1:
        return defect.change(record)
    return record


def _fails(error: str, code: int | None = None) -> Change:
    def change(record: Attempt | Send) -> Record:
        if record.error is not None:
            return record
        if isinstance(record, Send):
            return replace(record, error=error, code=code, status=None, broker=None, queue_id=None, queue_offset=None)
        return replace(record, error=error, code=code, status=None)

    return change


def _status(status: str | None, *, in_attempts: bool = True, in_results: bool = True) -> Change:
    def change(record: Attempt | Send) -> Record:
        wanted = in_results if isinstance(record, Send) else in_attempts
        return replace(record, status=status) if wanted and record.status is not None else record

    return change


def _result(change: Callable[[Send], Send]) -> Change:
    return lambda record: change(record) if isinstance(record, Send) and record.error is None else record


def _raised(change: Callable[[Send], Send]) -> Change:
    return lambda record: change(record) if isinstance(record, Send) and record.error is not None else record


def _attempt(change: Callable[[Attempt], Attempt | None]) -> Change:
    return lambda record: change(record) if isinstance(record, Attempt) else record


def _other(broker: str | None) -> str | None:
    return {"broker-a": "broker-b", "broker-b": "broker-a"}.get(broker or "", broker)


def _next(queue_id: int | None) -> int | None:
    return None if queue_id is None else (queue_id + 1) % 4


def _moved(record: Attempt | Send) -> Record:
    return (
        replace(record, broker=_other(record.broker))
        if isinstance(record, Send)
        else replace(record, broker=_other(record.broker) or "")
    )


def _lasting(share: float) -> Callable[[Attempt], Attempt]:
    """Report failed attempts with this share of their duration."""

    def change(record: Attempt) -> Attempt:
        took_ns = round((record.end_ns - record.start_ns) * share)
        return replace(record, end_ns=record.start_ns + took_ns) if record.error else record

    return change


_CALM = ("outcomes",)
_WITNESS = ("queue-choice",)

REPORTED_DEFECTS: Mapping[str, ReportedDefect] = {
    "loses-connections": ReportedDefect(
        DefectKind.OUTCOME, "loses the connection of some sends for no reason", _CALM, _fails(_LOST)
    ),
    "cannot-connect": ReportedDefect(
        DefectKind.OUTCOME,
        "cannot connect for some sends, to brokers that are up",
        _CALM,
        _fails("RemotingConnectException"),
    ),
    "fails-often": ReportedDefect(
        DefectKind.OUTCOME, "loses the connection of every second send", _CALM, _fails(_LOST), every=2
    ),
    "fails-always": ReportedDefect(
        DefectKind.OUTCOME, "loses the connection of every send", _CALM, _fails(_LOST), every=1
    ),
    "fails-rarely": ReportedDefect(
        DefectKind.OUTCOME, "loses the connection of one send in fifty", _CALM, _fails(_LOST), every=50
    ),
    "says-busy": ReportedDefect(DefectKind.OUTCOME, "invents SYSTEM_BUSY of a broker", _CALM, _fails(_BROKER, 2)),
    "says-system-error": ReportedDefect(
        DefectKind.OUTCOME, "invents SYSTEM_ERROR of a broker", _CALM, _fails(_BROKER, 1)
    ),
    "says-not-available": ReportedDefect(
        DefectKind.OUTCOME, "invents SERVICE_NOT_AVAILABLE of a broker", _CALM, _fails(_BROKER, 14)
    ),
    "says-no-permission": ReportedDefect(
        DefectKind.OUTCOME, "invents NO_PERMISSION of a broker", _CALM, _fails(_BROKER, 16)
    ),
    "says-no-topic": ReportedDefect(
        DefectKind.OUTCOME, "invents TOPIC_NOT_EXIST of a broker", _CALM, _fails(_BROKER, 17)
    ),
    "says-timeout": ReportedDefect(
        DefectKind.OUTCOME,
        "reports a timeout for answers that came within 1 ms",
        (*_CALM, "attempts"),
        _fails(_TIMEOUT),
    ),
    "null-pointer": ReportedDefect(
        DefectKind.OUTCOME,
        "throws NullPointerException",
        (*_CALM, "error-kind", "attempts"),
        _fails("NullPointerException"),
    ),
    "interrupted": ReportedDefect(
        DefectKind.OUTCOME,
        "throws InterruptedException without being interrupted",
        (*_CALM, "error-kind", "attempts"),
        _fails("InterruptedException"),
    ),
    "flush-disk": ReportedDefect(
        DefectKind.STATUS,
        "returns FLUSH_DISK_TIMEOUT for SEND_OK",
        ("error-kind", "attempts", "outcomes", "queue-choice"),
        _status("FLUSH_DISK_TIMEOUT"),
    ),
    "flush-slave": ReportedDefect(
        DefectKind.STATUS,
        "returns FLUSH_SLAVE_TIMEOUT for SEND_OK",
        ("error-kind", "attempts", "outcomes", "queue-choice"),
        _status("FLUSH_SLAVE_TIMEOUT"),
    ),
    "no-slave": ReportedDefect(
        DefectKind.STATUS,
        "returns SLAVE_NOT_AVAILABLE for SEND_OK",
        ("error-kind", "attempts", "outcomes", "queue-choice"),
        _status("SLAVE_NOT_AVAILABLE"),
    ),
    "result-status": ReportedDefect(
        DefectKind.STATUS,
        "returns a status other than that of its attempt",
        ("error-kind", "attempts"),
        _status("FLUSH_DISK_TIMEOUT", in_attempts=False),
    ),
    "attempt-status": ReportedDefect(
        DefectKind.STATUS,
        "returns SEND_OK for an attempt with another status",
        ("error-kind", "attempts"),
        _status("FLUSH_DISK_TIMEOUT", in_results=False),
    ),
    "next-queue": ReportedDefect(
        DefectKind.PLACE,
        "names the next queue in its result",
        (*_WITNESS, "loss", "error-kind"),
        _result(lambda record: replace(record, queue_id=_next(record.queue_id))),
    ),
    "attempt-queue": ReportedDefect(
        DefectKind.PLACE,
        "names the next queue in its attempt",
        _WITNESS,
        _attempt(lambda record: replace(record, queue_id=(record.queue_id + 1) % 4)),
    ),
    "other-broker": ReportedDefect(
        DefectKind.PLACE,
        "names the other broker in its result",
        (*_WITNESS, "loss", "error-kind"),
        _result(lambda record: replace(record, broker=_other(record.broker))),
    ),
    "attempt-broker": ReportedDefect(
        DefectKind.PLACE,
        "names the other broker in its attempt",
        _WITNESS,
        _attempt(lambda record: replace(record, broker=_other(record.broker) or "")),
    ),
    "moves": ReportedDefect(DefectKind.PLACE, "names the other broker everywhere", _WITNESS, _moved),
    "no-such-broker": ReportedDefect(
        DefectKind.PLACE,
        "names a broker that does not exist",
        _WITNESS,
        _result(lambda record: replace(record, broker="broker-z")),
    ),
    "no-such-queue": ReportedDefect(
        DefectKind.PLACE,
        "names a queue that does not exist",
        _WITNESS,
        _result(lambda record: replace(record, queue_id=99)),
    ),
    "next-offset": ReportedDefect(
        DefectKind.PLACE,
        "names the next offset",
        _WITNESS,
        _result(lambda record: replace(record, queue_offset=(record.queue_offset or 0) + 1)),
    ),
    "first-offset": ReportedDefect(
        DefectKind.PLACE,
        "names offset 0 in every result",
        _WITNESS,
        _result(lambda record: replace(record, queue_offset=0)),
    ),
    "far-offset": ReportedDefect(
        DefectKind.PLACE,
        "names an offset that the queue has not reached",
        _WITNESS,
        _result(lambda record: replace(record, queue_offset=77_777)),
    ),
    "hides-attempts": ReportedDefect(
        DefectKind.ATTEMPTS,
        "reports no attempt of some sends",
        ("attempts", "queue-choice", "duplication", "outcomes"),
        _attempt(lambda _record: None),
    ),
    "hides-first-attempt": _of_failures(
        DefectKind.ATTEMPTS,
        "does not report the first of two attempts",
        ("attempts", "queue-choice", "duplication"),
        _attempt(lambda record: None if record.error else record),
    ),
    "tells-failures-as-ok": _of_failures(
        DefectKind.ATTEMPTS,
        "reports attempts that timed out as answered",
        ("attempts", "duplication", "outcomes"),
        _attempt(lambda record: replace(record, error=None, status="SEND_OK")),
    ),
    "ok-for-failed": _of_failures(
        DefectKind.ERROR,
        "returns SEND_OK where it should throw",
        ("attempts", "error-kind", "outcomes"),
        _raised(
            lambda record: replace(
                record,
                error=None,
                cause=None,
                code=None,
                status="SEND_OK",
                broker="broker-b",
                queue_id=0,
                queue_offset=0,
            )
        ),
    ),
    "other-class": _of_failures(
        DefectKind.ERROR,
        "throws RuntimeException",
        ("error-kind",),
        _raised(lambda record: replace(record, error="RuntimeException")),
    ),
    "client-exception": _of_failures(
        DefectKind.ERROR,
        "throws MQBrokerException for every failure",
        ("error-kind",),
        _raised(lambda record: replace(record, error=_BROKER)),
    ),
    "other-cause": _of_failures(
        DefectKind.ERROR,
        "names a cause that no attempt had",
        ("error-kind",),
        _raised(lambda record: replace(record, cause="IOException")),
    ),
    "invents-code": _of_failures(
        DefectKind.ERROR,
        "throws with a code that no response had",
        ("error-kind",),
        _raised(lambda record: replace(record, code=4_711)),
    ),
    "attempt-error": _of_failures(
        DefectKind.ERROR,
        "reports timeouts as refused connections",
        ("attempts", "error-kind", "outcomes", "duplication"),
        _attempt(lambda record: replace(record, error="RemotingConnectException") if record.error else record),
    ),
    "half-a-timeout": _of_failures(
        DefectKind.TIMING, "gives up after half of its timeout", ("attempts",), _attempt(_lasting(0.5))
    ),
    "no-patience": _of_failures(
        DefectKind.TIMING, "gives up after a hundredth of its timeout", ("attempts",), _attempt(_lasting(0.01))
    ),
    "nearly-a-timeout": _of_failures(
        DefectKind.TIMING, "gives up five percent early", ("attempts",), _attempt(_lasting(0.95))
    ),
    "three-quarters": _of_failures(
        DefectKind.TIMING, "gives up after three quarters of its timeout", ("attempts",), _attempt(_lasting(0.75))
    ),
}
