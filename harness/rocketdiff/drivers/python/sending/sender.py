"""
One sender thread: its sends in order, one at a time, none before it is due (closed loop).

The thread continues when an asynchronous call returns; ``AsyncSends`` reports its outcome.
"""

import threading
import time
from collections.abc import Sequence

from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.plan import PlannedSend, SendMode
from rocketdiff.drivers.python.sending.async_sends import AsyncSends
from rocketdiff.drivers.python.sending.client import Client, ClientResult
from rocketdiff.drivers.python.session import Speak

_MESSAGE_CHARACTERS = 500
"""Longest error message in a record."""


class Sender(threading.Thread):
    """Sends its share of the plan and reports each send."""

    def __init__(
        self,
        number: int,
        plan: Sequence[PlannedSend],
        start_ns: int,
        client: Client,
        speak: Speak,
        under_way: AsyncSends,
    ) -> None:
        super().__init__(name=f"sender-{number}", daemon=True)
        self._under_way = under_way
        self._plan = plan
        self._start_ns = start_ns
        self._client = client
        self._speak = speak

    def run(self) -> None:
        for send in self._plan:
            _sleep_until(self._start_ns + send.due_ns)
            if send.mode is SendMode.ASYNC:
                self._send_async(send)
            else:
                self._send(send)

    def _send_async(self, send: PlannedSend) -> None:
        client = self._client
        route = client.route()
        start_ns = time.monotonic_ns()

        def record_of(end_ns: int, answer: ClientResult | None, error: Exception | None) -> Send:
            return _record(send, start_ns, end_ns, answer, error, route, client.route())

        callback = self._under_way.begin(send, record_of)
        error: Exception | None = None
        try:
            client.send_async(send, client.message(send), callback)
        except Exception as raised:  # noqa: BLE001 - any exception of the client is its result
            error = raised
        self._under_way.returned(send, error)

    def _send(self, send: PlannedSend) -> None:
        client = self._client
        route = client.route()
        answer: ClientResult | None = None
        error: Exception | None = None
        start_ns = time.monotonic_ns()
        try:
            message = client.message(send)
            start_ns = time.monotonic_ns()
            if send.mode is SendMode.ONEWAY:
                client.send_oneway(send, message)
            else:
                answer = client.send(send, message)
        except Exception as raised:  # noqa: BLE001 - any exception of the client is its result
            error = raised
        end_ns = time.monotonic_ns()
        self._speak(_record(send, start_ns, end_ns, answer, error, route, client.route()))


def code_of(error: BaseException | None) -> int | None:
    """Return RocketMQ's response code of an exception; None for no code (-1 in Java)."""
    code = getattr(error, "code", None)
    return int(code) if isinstance(code, int) and code != -1 else None


def _record(
    send: PlannedSend,
    start_ns: int,
    end_ns: int,
    answer: ClientResult | None,
    error: Exception | None,
    route: int,
    route_after: int,
) -> Send:
    if error is not None:
        cause = error.__cause__
        return Send(
            send.send,
            send.thread,
            start_ns,
            end_ns,
            error=type(error).__name__,
            cause=None if cause is None else type(cause).__name__,
            code=code_of(error),
            message=str(error)[:_MESSAGE_CHARACTERS],
            route=route,
            route_after=route_after,
        )
    if answer is None:  # a one-way send, or the callback never came
        return Send(send.send, send.thread, start_ns, end_ns, route=route, route_after=route_after)
    return Send(
        send.send,
        send.thread,
        start_ns,
        end_ns,
        status=answer.status,
        broker=answer.broker,
        queue_id=answer.queue_id,
        queue_offset=answer.queue_offset,
        route=route,
        route_after=route_after,
    )


def _sleep_until(due_ns: int) -> None:
    while (left_ns := due_ns - time.monotonic_ns()) > 0:
        time.sleep(left_ns / 1e9)
