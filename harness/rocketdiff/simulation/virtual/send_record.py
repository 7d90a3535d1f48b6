"""The record of one send: attempts and result, and their text in an answer line."""

from dataclasses import dataclass, field

from rocketdiff.simulation.virtual.lines import number, text
from rocketmq_reference.rules.producer.attempt import SEND_OK, AttemptResult

_OUTCOMES = {
    "RemotingTimeoutException": "timeout",
    "RemotingConnectException": "refused",
    "RemotingSendRequestException": "reset",
    "RemotingTooMuchRequestException": "too-much",
    "MQBrokerException": "code",
}
"""Attempt outcomes by exception; the outcome of any other exception is its class name."""

WRITTEN = "written"


@dataclass(slots=True)
class VirtualAttempt:
    """One request passed to the remoting client. broker None: to a name server. outcome None: still in flight. request: as JSON."""

    broker: str | None
    queue_id: int
    timeout_ms: int
    began_ms: int
    vip: bool = False
    elapsed_ms: int | None = None
    outcome: str | None = None
    code: int | None = None
    request: str | None = None

    def ended(self, now_ms: int, result: AttemptResult) -> None:
        if result.error is None:
            status = result.status or SEND_OK
            self.end(now_ms, "ok" if status == SEND_OK else status)
        else:
            self.end(now_ms, _OUTCOMES.get(result.error, result.error))
            if result.error == "MQBrokerException":
                self.code = result.code

    def end(self, now_ms: int, outcome: str) -> None:
        """Record the end; only the first call has an effect."""
        if self.outcome is None:
            self.elapsed_ms = now_ms - self.began_ms
            self.outcome = outcome

    def text(self) -> str:
        code = "" if self.code is None else f', "code": {self.code}'
        vip = ', "vip": true' if self.vip else ""
        request = "" if self.request is None else f', "request": {self.request}'
        return (
            f'{{"broker": {text(self.broker)}, "queue_id": {self.queue_id}, "timeout_ms": {self.timeout_ms}, '
            f'"elapsed_ms": {number(self.elapsed_ms)}, "outcome": {text(self.outcome)}{code}{vip}{request}}}'
        )


@dataclass(frozen=True, slots=True)
class End:
    """
    The application's view of a send: a result, or an exception with its code and cause.

    Result "ok" with status None is a one-way send.
    """

    result: str
    status: str | None = None
    broker: str | None = None
    queue_id: int | None = None
    exception: str | None = None
    code: int | None = None
    cause: str | None = None


@dataclass(slots=True)
class SendRecord:
    """One send, from the application's call on."""

    began_ms: int
    attempts: list[VirtualAttempt] = field(default_factory=list)

    def send_text(self, end: End, now_ms: int, call: int = 1) -> str:
        """Return the send as text; call: 1 for the first call of the callback, 2 for the second, …"""
        again = "" if call == 1 else f', "callback": {call}'
        return f'"send": {{{_end_text(end)}, "elapsed_ms": {now_ms - self.began_ms}, {self._attempts()}{again}}}'

    def pending_text(self) -> str:
        return f'"send": {{"result": "pending", {self._attempts()}}}'

    def _attempts(self) -> str:
        return f'"attempts": [{", ".join(attempt.text() for attempt in self.attempts)}]'


def _end_text(end: End) -> str:
    if end.exception is not None:
        cause = "" if end.cause is None else f', "cause": {text(end.cause)}'
        return f'"result": "exception", "exception": {text(end.exception)}, "code": {number(end.code)}{cause}'
    return (
        f'"result": {text(end.result)}, "status": {text(end.status)}, "broker": {text(end.broker)}, '
        f'"queue_id": {number(end.queue_id)}'
    )
