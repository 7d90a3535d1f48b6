"""A socket that carries frames and never blocks: bytes go out as far as they can, commands come in as they are complete."""

import contextlib
import os
import select
import socket
from collections.abc import Iterable
from typing import Self

from rocketmq_reference.remoting.errors import RemotingConnectException
from rocketmq_reference.remoting.frames import Command, FrameBuffer

_READ_BYTES = 65_536
_LONG_S = 3_600.0  # waited at once at most
_SELECT_LIMIT = 1_024  # FD_SETSIZE: select(), which waits by the microsecond and poll() by the millisecond, has no more


class Wire:
    """
    One connected socket, used by one thread at a time for reading and by one for writing; whoever holds it sees to that.

    What the socket does not take at once is kept, as in Netty's outbound buffer, until somebody flushes.
    """

    __slots__ = ("_descriptor", "_frames", "_input", "_socket", "_unsent")

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._descriptor = connection.fileno()
        self._frames = FrameBuffer()
        self._unsent = bytearray()
        self._input = select.poll()
        self._input.register(connection, select.POLLIN)

    @classmethod
    def connect(cls, address: str, timeout_ms: int) -> Self:
        """
        Connect to ``host:port`` within ``timeout_ms`` milliseconds.

        Raises RemotingConnectException.
        """
        host, _, port = address.rpartition(":")
        try:
            connection = socket.create_connection((host.strip("[]"), int(port)), timeout=timeout_ms / 1000)
        except (OSError, ValueError) as error:
            raise RemotingConnectException(address) from error
        if connection.getsockname() == connection.getpeername():
            # Linux connects a socket to itself when its own port happens to be the dead one it dials.
            connection.close()
            raise RemotingConnectException(address)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(connection)

    @property
    def has_unsent(self) -> bool:
        """Whether something still waits to go out."""
        return bool(self._unsent)

    def has_input(self) -> bool:
        """Whether something has come, or the connection is over; dearer to learn from receive()."""
        return bool(self._input.poll(0))

    def write(self, frame: bytes) -> None:
        """Send after all that was sent before, now or when flushed. Raises OSError where the connection is lost."""
        if self._unsent:
            self._unsent += frame
            return
        try:
            sent = self._socket.send(frame)
        except BlockingIOError:
            sent = 0
        if sent < len(frame):
            self._unsent += frame[sent:]

    def flush(self) -> None:
        """Send what the socket takes now. A lost connection is noticed by whoever reads."""
        try:
            del self._unsent[: self._socket.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent.clear()

    def receive(self) -> Iterable[Command] | None:
        """
        The commands that have come in whole, None at the other side's orderly end.

        Raises BlockingIOError where nothing has come, another OSError for a lost connection, and RemotingCommandException,
        maybe after some commands, for what are no frames.
        """
        data = self._socket.recv(_READ_BYTES)
        return self._frames.feed(data) if data else None

    def await_readable(self, remaining_ns: int, alarm: int) -> bool:
        """Wait until the socket can be read from, or the time is up, or the alarm (an event descriptor) is given."""
        seconds = min(_LONG_S, remaining_ns / 1e9)
        if self._descriptor < _SELECT_LIMIT and alarm < _SELECT_LIMIT:
            ready = select.select((self._descriptor, alarm), (), (), seconds)[0]
        else:
            ready = _polled({self._descriptor: select.POLLIN, alarm: select.POLLIN}, seconds)
        if alarm in ready:
            os.eventfd_read(alarm)
        return self._descriptor in ready

    def await_writable(self, remaining_ns: int) -> None:
        """Wait until the socket can be written to, or the time is up."""
        _polled({self._descriptor: select.POLLOUT}, remaining_ns / 1e9)

    def shut(self) -> None:
        """End the connection but keep the descriptor, which a reader may still be waiting on."""
        self._unsent.clear()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the connection and give the descriptor back."""
        self._unsent.clear()
        self._socket.close()


def _polled(events: dict[int, int], seconds: float) -> list[int]:
    """The descriptors of which one of their events has come about, at the latest when the time is up."""
    poll = select.poll()
    for descriptor, event in events.items():
        poll.register(descriptor, event)
    return [descriptor for descriptor, _ in poll.poll(seconds * 1_000)]
