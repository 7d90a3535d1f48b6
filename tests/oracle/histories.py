"""
A small language for histories: the sends of a trace on one line.

    "0 a1 2 | 20 b0 500 timeout > a1 3 | 540 a2 2"

"|" separates sends, ">" the attempts of a send. A send begins with its start in ms. An attempt is a queue, a duration
in ms and an end: nothing for SEND_OK, ``timeout``, ``refused``, ``lost``, ``busy`` (code 2), ``error`` (code 1), or a
status in capitals. The call ends like its last attempt, or throws the exception after "!", with "/code" if it has one;
its cause is the last attempt's error. All other steps of the client take 0.1 ms.

"t1" before the start is the thread. After the start, "r2" or "r1-2" is the route (version, or versions before and
after; 1 by default), "=q5" an explicit queue and "=s5" a selector argument.
"""

from typing import Any

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.plan import SendKind

MS = 1_000_000
STEP_NS = MS // 10

ENDS = {
    "timeout": ("RemotingTimeoutException", None),
    "refused": ("RemotingConnectException", None),
    "lost": ("RemotingSendRequestException", None),
    "busy": ("MQBrokerException", 2),
    "error": ("MQBrokerException", 1),
}

EXCEPTIONS = {
    "too-much": "RemotingTooMuchRequestException",
    "client": "MQClientException",
    "broker": "MQBrokerException",
    "timeout": "RemotingTimeoutException",
    "state": "IllegalStateException",
    "client-refused": "client-refused",
}

NO_ADDRESS = 10003
"""Code of a call whose last attempt failed because its broker had no address."""

Routes = dict[int, tuple[tuple[str, int], ...]]


def attempt_of(
    attempt: int,
    broker: str,
    queue_id: int,
    start_ns: int,
    end_ns: int,
    error: str | None = None,
    code: int | None = None,
    status: str | None = None,
    chooser: int | None = None,
) -> Attempt:
    """Return an attempt; the oracle takes send and thread from the send around it."""
    return Attempt(0, 0, attempt, broker, queue_id, start_ns, end_ns, error, code, status, chooser)


def send_of(
    send: int,
    thread: int,
    kind: SendKind,
    argument: int,
    start_ns: int,
    end_ns: int,
    error: str | None = None,
    cause: str | None = None,
    code: int | None = None,
    status: str | None = None,
    **more: Any,
) -> Send:
    more |= {"kind": kind, "argument": argument, "status": status}
    return Send(send, thread, start_ns, end_ns, error, cause, code, **more)


def routes(*lists: str) -> Routes:
    """Return versions 1, 2, … of a publish list, each written "a4 b4"."""
    return {
        version: tuple((part[0], number) for part in text.split() for number in range(int(part[1:])))
        for version, text in enumerate(lists, 1)
    }


def history(text: str) -> list[Send]:
    return [_send(number, part.strip()) for number, part in enumerate(text.split("|"))]


def _send(number: int, text: str) -> Send:
    text, _, thrown = (part.strip() for part in text.partition("!"))
    head, *rest = text.split(">")
    words = head.split()
    thread = int(words.pop(0)[1:]) if words[0].startswith("t") else 0
    start_ns = round(float(words.pop(0)) * MS)
    before = after = 1
    if words and words[0].startswith("r") and words[0][1:2].isdigit():
        versions = [int(version) for version in words.pop(0)[1:].split("-")]
        before, after = versions[0], versions[-1]
    kind, argument = SendKind.PLAIN, 0
    if words and words[0].startswith("="):
        word = words.pop(0)
        kind, argument = {"q": SendKind.QUEUE, "s": SendKind.SELECTOR}[word[1]], int(word[2:])
    attempts: list[Attempt] = []
    now_ns = start_ns
    for part in [words, *(attempt.split() for attempt in rest)] if words else []:
        attempts.append(_attempt(len(attempts), now_ns + STEP_NS, part))
        now_ns = attempts[-1].end_ns
    last = attempts[-1] if attempts else None
    error, code = (last.error, last.code) if last else (None, None)
    if thrown:
        name, _, digits = thrown.partition("/")
        error, code = EXCEPTIONS[name], int(digits) if digits else None
    cause = last.error if last and error == "MQClientException" else None
    if code == NO_ADDRESS:
        cause = "MQClientException"
    return send_of(
        send=number,
        thread=thread,
        kind=kind,
        argument=argument,
        start_ns=start_ns,
        end_ns=now_ns + STEP_NS,
        error=error,
        cause=cause,
        code=code,
        status=last.status if last and not error else None,
        broker=last.broker if last and not error else None,
        queue_id=last.queue_id if last and not error else None,
        route=before,
        route_after=after,
        attempts=tuple(attempts),
    )


def _attempt(number: int, start_ns: int, words: list[str]) -> Attempt:
    queue, duration, *how = words
    error, code, status = None, None, "SEND_OK"
    if how and how[0].isupper():
        status = how[0]
    elif how:
        error, code = ENDS[how[0]]
    return attempt_of(
        attempt=number,
        broker=queue[0],
        queue_id=int(queue[1:]),
        start_ns=start_ns,
        end_ns=start_ns + round(float(duration) * MS),
        error=error,
        code=code,
        status=None if error else status,
    )
