"""A socket that carries frames and never blocks: bytes go out as far as they can, commands come in as they are complete."""

import contextlib
import os
import select
import socket
import ssl
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

    What the socket does not take at once is kept, as in Netty's outbound buffer, until somebody flushes. tls: encrypts; the
    handshake goes on while the socket is read, and what is written before its end waits for that, as behind Netty's SslHandler.
    """

    __slots__ = ("_descriptor", "_frames", "_input", "_socket", "_tls", "_unsent")

    def __init__(self, connection: socket.socket, tls: ssl.SSLContext | None = None) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._descriptor = connection.fileno()
        self._frames = FrameBuffer()
        self._unsent = bytearray()
        self._input = select.poll()
        self._input.register(connection, select.POLLIN)
        self._tls = None if tls is None else Encryption(tls)
        if self._tls is not None:
            self._unsent += self._tls.greeting()
            self.flush()

    @classmethod
    def connect(cls, address: str, timeout_ms: int, tls: ssl.SSLContext | None = None) -> Self:
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
        return cls(connection, tls)

    @property
    def is_shaking_hands(self) -> bool:
        """Whether TLS is not agreed on yet."""
        return self._tls is not None and not self._tls.is_agreed

    @property
    def has_unsent(self) -> bool:
        """Whether something still waits to go out."""
        return bool(self._unsent)

    def has_input(self) -> bool:
        """Whether something has come, or the connection is over; dearer to learn from receive()."""
        return bool(self._input.poll(0))

    def write(self, frame: bytes) -> None:
        """Send after all that was sent before, now or when flushed. Raises OSError where the connection is lost."""
        if self._tls is not None:
            frame = self._tls.encrypted(frame)
            if not frame:
                return  # it goes out at the end of the handshake
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
        if data and self._tls is not None:
            return self._decrypted(data, self._tls)
        return self._frames.feed(data) if data else None

    def _decrypted(self, data: bytes, tls: "Encryption") -> Iterable[Command] | None:
        try:
            plain = tls.decrypted(data)
        finally:
            self._unsent += tls.outgoing()  # of the handshake, and what waited for it; an alert where it failed
            if self._unsent:
                self.flush()
        return None if plain is None else self._frames.feed(plain)

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


class Encryption:
    """
    TLS of one connection, without I/O: bytes of the socket to bytes of frames and back.

    What is to be sent waits until the handshake is over.
    """

    __slots__ = ("_in", "_object", "_out", "_waiting", "is_agreed")

    def __init__(self, context: ssl.SSLContext) -> None:
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._object = context.wrap_bio(self._in, self._out)
        self._waiting = bytearray()
        self.is_agreed = False

    def greeting(self) -> bytes:
        """The first bytes for the socket."""
        self._shake_hands()
        return self._out.read()

    def encrypted(self, plain: bytes) -> bytes:
        """Bytes for the socket, none as long as the handshake lasts."""
        if not self.is_agreed:
            self._waiting += plain
            return b""
        self._object.write(plain)
        return self._out.read()

    def decrypted(self, data: bytes) -> bytes | None:
        """
        What the bytes of a socket say, None at the other side's orderly end; there may be more to send() than before.

        Raises ssl.SSLError, an OSError, for an untrusted certificate and for what is no TLS.
        """
        self._in.write(data)
        if not self.is_agreed and not self._shake_hands():
            return b""
        plain = bytearray()
        try:
            while read := self._object.read(_READ_BYTES):
                plain += read
        except ssl.SSLWantReadError:
            return bytes(plain)
        except ssl.SSLZeroReturnError:
            pass
        return bytes(plain) or None  # the other side has said that it ends; the socket ends next

    def outgoing(self) -> bytes:
        """Bytes for the socket that receiving has led to."""
        return self._out.read()

    def _shake_hands(self) -> bool:
        try:
            self._object.do_handshake()
        except ssl.SSLWantReadError:
            return False
        self.is_agreed = True
        if self._waiting:
            self._object.write(bytes(self._waiting))
            self._waiting.clear()
        return True


def _polled(events: dict[int, int], seconds: float) -> list[int]:
    """The descriptors of which one of their events has come about, at the latest when the time is up."""
    poll = select.poll()
    for descriptor, event in events.items():
        poll.register(descriptor, event)
    return [descriptor for descriptor, _ in poll.poll(seconds * 1_000)]
