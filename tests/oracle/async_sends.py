"""Asynchronous sends of one arm, with a timeout of 500 ms, and how they are judged."""

from dataclasses import replace

from rocketdiff.core.records.sending import UNSEEN_END, Send
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.oracle.producer.asynchronous.ends import Troubled, async_difference
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.producer.settings import SendSettings
from tests.oracle.histories import attempt_of, send_of

MS = 1_000_000


TIMED_OUT = 1_700
"""500 ms, 1 s of grace, and the time until the next scan of pending requests."""


SETTINGS = SendSettings(send_msg_timeout_ms=500)


def trace(*took_ms: int, error: str | None = None, code: int | None = None) -> Send:
    """Return a send with consecutive attempts of these durations."""
    attempts, at_ns = [], 0
    for number, lasted in enumerate(took_ms):
        failed = UNSEEN_END if number + 1 < len(took_ms) else error
        attempts.append(attempt_of(number, "broker-b", 0, at_ns, at_ns + lasted * MS, failed))
        at_ns += lasted * MS
    status = "SEND_OK" if error is None else None
    seen = tuple(attempts)
    return send_of(
        0,
        0,
        SendKind.PLAIN,
        0,
        0,
        at_ns,
        error,
        None,
        code,
        status,
        attempts=seen,
        mode=SendMode.ASYNC,
    )


def because_of(cause: str | None, *took_ms: int, error: str = "MQClientException") -> Send:
    return replace(trace(*took_ms, error=error), cause=cause)


def signature(
    release: str, send: Send, troubled: Troubled = lambda *_: False, *, causes_reported: bool = False
) -> str | None:
    """Return the difference's signature; by default no broker is faulty and no causes are reported."""
    found = async_difference(dialect_of(release), SETTINGS, send, troubled, causes_reported=causes_reported)
    return None if found is None else found.signature


def faulty(_broker: str | None, _start_ns: int, _end_ns: int) -> bool:
    return True


def faulty_itself(broker: str | None, _start_ns: int, _end_ns: int) -> bool:
    """Only the attempt's own broker, so no invisible retry at another."""
    return broker is not None


def calm(_broker: str | None, _start_ns: int, _end_ns: int) -> bool:
    return False
