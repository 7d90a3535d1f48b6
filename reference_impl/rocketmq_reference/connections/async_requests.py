"""Requests that no caller waits for, on the connections of one client (invokeAsync, invokeOneway, scanResponseTable)."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from rocketmq_reference.connections.async_channel import AsyncChannel
from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.remoting.errors import (
    RemotingConnectException,
    RemotingException,
    RemotingSendRequestException,
    RemotingTimeoutException,
    RemotingTooMuchRequestException,
)
from rocketmq_reference.remoting.frames import Command

_NS_PER_MS = 1_000_000


class AsyncConnectionRules(Protocol):
    """What a release decides about such requests; a dialect's remoting rules are such a value. Times in milliseconds."""

    @property
    def connects_in_background(self) -> bool:
        """Whether their caller goes on while the connection is made, and is thrown nothing."""
        ...

    @property
    def late_async_fails_twice(self) -> bool:
        """Whether one that has no time left by then goes on all the same after it has failed, and fails again."""
        ...

    def async_time_left_ms(self, timeout_ms: int, spent_ms: int, /) -> int | None:
        """Time left once the connection is there; None: there is none, and the request fails."""
        ...

    def is_expired(self, written_ms: int, left_ms: int, now_ms: int, /) -> bool:
        """Whether a scan ends a request that was written with so much time left."""
        ...


@dataclass(frozen=True, slots=True)
class AsyncEnd:
    """
    How a request ended: the answer or what failed it.

    direct: it failed before anything was written, in the event loop. written_ms: when it was written.
    """

    answer: Command | None = None
    error: RemotingException | None = None
    direct: bool = False
    written_ms: int | None = None


OnEnd = Callable[[AsyncEnd], object]
Rest = Callable[[RemotingException | None], object]


@dataclass(frozen=True, slots=True)
class _Pending:
    channel: AsyncChannel
    written_ms: int
    left_ms: int
    on_end: OnEnd


class AsyncRequests:
    """
    Asynchronous and one-way requests; safe for threads.

    What they end in is told in ``callbacks``, but for failures of the event loop's, which is a thread of this object.
    """

    def __init__(self, rules: AsyncConnectionRules, channels: Channels, callbacks: Executor, name: str) -> None:
        self._rules = rules
        self._channels = channels
        self._callbacks = callbacks
        self._loop = ThreadPoolExecutor(1, thread_name_prefix=f"event-loop-{name}")
        self._lock = threading.Lock()
        self._pending: dict[int, _Pending] = {}
        self._connecting: dict[str, list[Rest]] = {}

    def invoke(self, address: str, opaque: int, frame: bytes, timeout_ms: int, on_end: OnEnd) -> None:
        """
        Write a request, connecting first where needed; ``on_end`` is told how it ended.

        Raises, to 5.2.0, RemotingConnectException and, where connecting took too long, RemotingTooMuchRequestException.
        From 5.3.0 on such a request fails instead, to 5.3.3 twice if it was too late.
        """
        begin_ms = now_ms()
        if not self._rules.connects_in_background:
            channel = self._channels.open(address)
            left_ms = self._rules.async_time_left_ms(timeout_ms, now_ms() - begin_ms)
            if left_ms is None:
                raise RemotingTooMuchRequestException(f"invokeAsync call the addr[{address}] timeout")
            self._write(channel, opaque, frame, left_ms, on_end)
            return

        def rest(error: RemotingException | None) -> None:
            channel = None if error is not None else self._channels.current(address)
            left_ms = self._rules.async_time_left_ms(timeout_ms, now_ms() - begin_ms)
            if channel is None:
                on_end(AsyncEnd(error=RemotingConnectException(address), direct=True))
            elif left_ms is None:
                too_much = RemotingTooMuchRequestException(f"invokeAsync call the addr[{address}] timeout")
                on_end(AsyncEnd(error=too_much, direct=True))
                if self._rules.late_async_fails_twice:
                    on_end(AsyncEnd(error=RemotingTimeoutException(address, timeout_ms, written=False)))
            else:
                self._write(channel, opaque, frame, left_ms, on_end)

        self._in_background(address, rest)

    def invoke_oneway(self, address: str, frame: bytes) -> None:
        """
        Write a request that has no answer; what is lost after that is nobody's business.

        Raises RemotingConnectException to 5.2.0.
        """
        if not self._rules.connects_in_background:
            _write_oneway(self._channels.open(address), frame)
            return

        def rest(error: RemotingException | None) -> None:
            channel = None if error is not None else self._channels.current(address)
            if channel is not None:
                _write_oneway(channel, frame)

        self._in_background(address, rest)

    def scan(self) -> None:
        """End the requests whose time was up a second ago."""
        at_ms = now_ms()
        for opaque, pending in list(self._pending.items()):
            if self._rules.is_expired(pending.written_ms, pending.left_ms, at_ms):
                pending.channel.forget(opaque)
                self._over(opaque, RemotingTimeoutException(pending.channel.address, pending.left_ms))

    def close(self) -> None:
        """Begin nothing any more."""
        self._loop.shutdown(wait=False)

    def _write(self, channel: AsyncChannel, opaque: int, frame: bytes, left_ms: int, on_end: OnEnd) -> None:
        self._pending[opaque] = _Pending(channel, now_ms(), left_ms, on_end)
        lost = RemotingSendRequestException(channel.address)
        try:
            channel.invoke_async(opaque, frame, lambda answer: self._over(opaque, lost if answer is None else answer))
        except RemotingSendRequestException:
            self._over(opaque, lost)

    def _over(self, opaque: int, end: Command | RemotingException) -> None:
        pending = self._pending.pop(opaque, None)
        if pending is None:
            return
        if isinstance(end, Command):
            told = AsyncEnd(answer=end, written_ms=pending.written_ms)
        else:
            told = AsyncEnd(error=end, written_ms=pending.written_ms)
        try:
            self._callbacks.submit(pending.on_end, told)
        except RuntimeError:  # the pool has been shut down; then Java too does it here
            pending.on_end(told)

    def _in_background(self, address: str, rest: Rest) -> None:
        if self._channels.is_open(address):
            self._loop.submit(rest, None)
            return
        with self._lock:
            if address in self._connecting:
                self._connecting[address].append(rest)
                return
            self._connecting[address] = [rest]
        threading.Thread(target=self._connect, args=(address,), name=f"connect-{address}", daemon=True).start()

    def _connect(self, address: str) -> None:
        failed: RemotingException | None = None
        try:
            self._channels.connect(address)
        except RemotingException as error:
            failed = error
        with self._lock:
            waiting = self._connecting.pop(address)
        for rest in waiting:
            self._loop.submit(rest, failed)


def now_ms() -> int:
    """The monotonic clock in whole milliseconds."""
    return time.monotonic_ns() // _NS_PER_MS


def _write_oneway(channel: AsyncChannel, frame: bytes) -> None:
    try:
        channel.write_oneway(frame)
    except RemotingSendRequestException:
        return  # Java logs it
