"""A channel with requests that no thread waits for: asynchronous ones, whose end is told, and one-way ones."""

import socket
import time
from collections.abc import Callable
from typing import Any

from rocketmq_reference.connections.call import AsyncCall, Call
from rocketmq_reference.connections.channel import Channel
from rocketmq_reference.connections.watcher import Watcher
from rocketmq_reference.connections.wire import Wire
from rocketmq_reference.remoting.errors import RemotingSendRequestException
from rocketmq_reference.remoting.frames import Command

_WATCHER = -1  # no opaque is negative
_TURN_NS = 1_000_000_000  # after which the watcher looks whether it is still wanted


class AsyncChannel(Channel):
    """
    As Channel, for callers that do not wait.

    While one of their requests is under way, or bytes are left that nobody is sending, a thread of the channel's own, the
    watcher, stands in line with the threads that read.
    """

    def __init__(self, address: str, connection: socket.socket | Wire, **flags: Any) -> None:
        super().__init__(address, connection, **flags)
        self._watcher = Watcher(f"watcher-{address}", self._lock, self._is_watcher_wanted, self._watch)

    def invoke_async(self, opaque: int, frame: bytes, on_over: Callable[[Command | None], None]) -> None:
        """
        Send a request without waiting; ``on_over`` is told the answer, or None if the connection is lost, at most once.

        It is called by whatever thread reads, so it must be quick. Nothing is told of a request that is forgotten. Raises
        RemotingSendRequestException where the connection is gone already.
        """
        with self._lock:
            self._calls[opaque] = AsyncCall(on_over)  # first, as the answer may be read before the lock is given back
            try:
                self._write(frame)
            except RemotingSendRequestException:
                self._calls.pop(opaque, None)
                raise
            self._watcher.wake()

    def forget(self, opaque: int) -> None:
        """Nobody wants the answer to an asynchronous request any more."""
        with self._lock:
            self._calls.pop(opaque, None)

    def write_oneway(self, frame: bytes) -> None:
        """Send a request that has no answer. Raises RemotingSendRequestException where the connection is gone already."""
        with self._lock:
            self._write(frame)
            if self._wire.has_unsent:
                self._watcher.wake()

    def _is_watcher_wanted(self) -> bool:
        if self._is_closed:
            return False
        return self._wire.has_unsent or any(isinstance(call, AsyncCall) for call in self._calls.copy().values())

    def _watch(self) -> None:
        """One turn of the watcher, whether it comes to read or not."""
        call = Call()
        with self._lock:
            if self._is_closed:
                return
            self._stand_in_line(_WATCHER, call)
        deadline_ns = time.monotonic_ns() + _TURN_NS
        try:
            if not call.leads:
                call.sleep(deadline_ns)
            elif self._wire.await_ready(_TURN_NS, reading=True, writing=self._wire.has_unsent):
                self._read()
                with self._lock:
                    if self._wire.has_unsent and not self._is_closed:
                        self._wire.flush()
        finally:
            self._end(_WATCHER, call)
