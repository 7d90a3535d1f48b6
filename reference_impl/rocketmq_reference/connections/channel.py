"""
One connection to one address: requests out, answers matched by opaque, many threads at once; the part with a socket.

Of the threads that wait for an answer one reads for all of them (the leader) and, when its own answer has come or its
time is up, hands the reading to another. A single sender thus never waits for another thread to be scheduled, which is
most of the cost of a request on a fast network. Requests that no thread waits for are async_channel's.
"""

import socket
import threading
import time
from typing import Self

from rocketmq_reference.connections.call import AsyncCall, Call
from rocketmq_reference.connections.wire import CONNECT_TIMEOUT_MS, Wire
from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.errors import (
    RemotingCommandException,
    RemotingSendRequestException,
    RemotingTimeoutException,
)
from rocketmq_reference.remoting.frames import Command, encode, respond_to

_NS_PER_MS = 1_000_000


class Channel:
    """
    A connection to ``host:port``; safe for any number of threads.

    fails_pending_on_close: calls under way fail at once when this side closes or the peer resets the connection
    (NettyRemotingAbstract.failFast, from 4.3.0 on; earlier releases let them wait for their time).
    fails_pending_on_fin: also when the peer closes in an orderly way (NettyRemotingClient.channelInactive, from 5.1.3 on).
    """

    def __init__(
        self,
        address: str,
        connection: socket.socket | Wire,
        *,
        fails_pending_on_close: bool = True,
        fails_pending_on_fin: bool = True,
    ) -> None:
        self.address = address
        self._wire = connection if isinstance(connection, Wire) else Wire(connection)
        self._fails_pending_on_close = fails_pending_on_close
        self._fails_pending_on_fin = fails_pending_on_fin
        self._lock = threading.Lock()
        self._calls: dict[int, Call] = {}
        self._has_reader = False
        self._is_closed = False

    @classmethod
    def connect(
        cls,
        address: str,
        timeout_ms: int = CONNECT_TIMEOUT_MS,
        *,
        fails_pending_on_close: bool = True,
        fails_pending_on_fin: bool = True,
    ) -> Self:
        """
        Connect to ``host:port`` within ``timeout_ms`` milliseconds.

        Raises RemotingConnectException.
        """
        return cls(
            address,
            Wire.connect(address, timeout_ms),
            fails_pending_on_close=fails_pending_on_close,
            fails_pending_on_fin=fails_pending_on_fin,
        )

    def invoke(self, command: Command, timeout_ms: int) -> Command:
        """
        Send a request and wait up to ``timeout_ms`` milliseconds for its answer (NettyRemotingAbstract.invokeSyncImpl).

        Raises RemotingTimeoutException, and RemotingSendRequestException if the connection is or gets lost. Neither
        says that the request was not served. The channel stays open after a timeout; closing it is the caller's rule.
        Time is counted as the callers count it, in whole milliseconds: it is up when the clock shows more than
        ``timeout_ms`` of them. (Java wakes up on time, but has logged a stack trace before it looks at the clock again.)
        """
        return self.invoke_frame(command.opaque, encode(command), timeout_ms)

    def invoke_frame(self, opaque: int, frame: bytes, timeout_ms: int) -> Command:
        """As invoke, for a request that is encoded already; ``opaque`` is the number inside the frame."""
        deadline_ns = (time.monotonic_ns() // _NS_PER_MS + timeout_ms + 1) * _NS_PER_MS
        call = Call()
        try:
            self._begin(opaque, call, frame)
            if self._wire.has_unsent:
                self._flush_until(deadline_ns)
            while not call.is_over:
                if not (self._lead(call, deadline_ns) if call.leads else call.sleep(deadline_ns)):
                    break
        finally:
            self._end(opaque, call)
        if call.answer is not None:
            return call.answer
        if call.lost:
            self.close()
            raise RemotingSendRequestException(self.address)
        raise RemotingTimeoutException(self.address, timeout_ms)

    def is_usable(self) -> bool:
        """
        Whether a request may still be written here.

        While nobody reads, a close by the peer goes unnoticed; so this looks.
        """
        if self._is_closed:
            return False
        if self._has_reader:
            return True
        with self._lock:
            if self._is_closed or self._has_reader:
                return not self._is_closed
            self._has_reader = True
        while self._read():
            pass
        with self._lock:
            self._resign()
        return not self._is_closed

    def close(self) -> None:
        """Close from this side; pending calls fail at once where the release does that. Closing twice does nothing."""
        self._close(fails_pending=self._fails_pending_on_close)

    def _begin(self, opaque: int, call: Call, frame: bytes) -> None:
        with self._lock:
            if self._is_closed:
                raise RemotingSendRequestException(self.address)
            self._stand_in_line(opaque, call)
            try:
                self._wire.write(frame)
            except OSError:
                call.lost = True

    def _stand_in_line(self, opaque: int, call: Call) -> None:
        """Read if nobody does, otherwise sleep until it is this call's turn; called with the lock held."""
        self._calls[opaque] = call
        if self._has_reader:
            call.wake = threading.Lock()
            call.wake.acquire()
        else:
            self._has_reader = call.leads = True

    def _write(self, frame: bytes) -> None:
        """Write for nobody who waits; called with the lock held."""
        try:
            if not self._is_closed:
                self._wire.write(frame)
                return
        except OSError as error:
            raise RemotingSendRequestException(self.address) from error
        raise RemotingSendRequestException(self.address)

    def _end(self, opaque: int, call: Call) -> None:
        """Forget the call; if its thread was the reader, another takes over, and the last one out closes a dead socket."""
        if not call.leads:
            with self._lock:
                self._calls.pop(opaque, None)
                if not call.leads:
                    return
        with self._lock:
            self._calls.pop(opaque, None)
            call.leads = False
            self._resign()

    def _resign(self) -> None:
        """Stop being the reader; called with the lock held."""
        self._has_reader = False
        if self._is_closed:
            self._wire.close()
            return
        for call in self._calls.values():
            if call.wake is not None:
                self._has_reader = call.leads = True
                call.rouse()
                return

    def _lead(self, call: Call, deadline_ns: int) -> bool:
        """Wait for bytes once and hand out what they hold; False when the deadline passed without any."""
        remaining_ns = deadline_ns - time.monotonic_ns()
        if self._is_closed:
            # Nothing more will come; where the release does not fail pending calls, this one waits for its time.
            time.sleep(max(0, remaining_ns) / 1e9)
            return False
        if not self._wire.await_ready(remaining_ns, reading=True, writing=False):
            return False
        self._read()
        return call.is_over or remaining_ns > 0

    def _read(self) -> bool:
        """Take what has arrived and hand it out; False when there was nothing or the connection is over."""
        try:
            commands = self._wire.receive()
            if commands is None:
                self._close(fails_pending=self._fails_pending_on_fin)
                return False
            for command in commands:
                if command.is_response:
                    self._deliver(command)
                elif not command.is_oneway:
                    self._refuse(command)
        except BlockingIOError:
            return False
        except (OSError, RemotingCommandException, RemotingSendRequestException):
            self.close()
            return False
        return True

    def _deliver(self, answer: Command) -> None:
        call = self._calls.get(answer.opaque)
        if call is None:
            return  # came after its caller's time was up
        if isinstance(call, AsyncCall):
            if self._calls.pop(answer.opaque, None) is not None:
                call.on_over(answer)
            return
        if call.leads:
            call.answer = answer
            return
        with self._lock:
            call.answer = answer
            call.rouse()

    def _refuse(self, request: Command) -> None:
        """Answer a server's request: this client serves none (NettyRemotingAbstract.processRequestCommand)."""
        remark = f" request type {request.code} not supported"
        frame = encode(respond_to(request, ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark))
        with self._lock:
            self._write(frame)

    def _flush_until(self, deadline_ns: int) -> None:
        """
        Write on until all is out or the deadline passes.

        What is left stays for the next writer.
        """
        while self._wire.has_unsent and not self._is_closed:
            try:
                remaining_ns = deadline_ns - time.monotonic_ns()
                if not self._wire.await_ready(remaining_ns, reading=False, writing=True):
                    return
            except OSError:
                return  # closed by another thread meanwhile
            with self._lock:
                if not self._is_closed:
                    self._wire.flush()

    def _close(self, *, fails_pending: bool) -> None:
        lost: list[AsyncCall] = []
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            for opaque, call in list(self._calls.items()) if fails_pending else ():
                if isinstance(call, AsyncCall):
                    del self._calls[opaque]
                    lost.append(call)
                call.lost = call.answer is None
                call.rouse()
            if self._has_reader:
                # The descriptor must stay until its reader has left it, or another socket could get its number.
                self._wire.shut()
            else:
                self._wire.close()
        for each in lost:
            each.on_over(None)
