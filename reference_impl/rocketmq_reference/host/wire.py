"""A non-blocking socket for frames: it sends what the socket takes and returns complete commands."""

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
_LONG_S = 3_600.0  # longest single wait
_SELECT_LIMIT = 1_024  # FD_SETSIZE, limit of select(); preferred because poll() has timeouts in whole milliseconds


class Wire:
    """
    One connected socket; the owner ensures one reading and one writing thread at a time.

    Bytes that the socket does not take at once are kept until flush(), as in Netty's outbound buffer. tls: encrypts the
    connection. The handshake continues with each read; earlier writes wait for its end, as behind Netty's SslHandler.
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
            # Linux connects a socket to itself if its ephemeral port equals the port it connects to.
            connection.close()
            raise RemotingConnectException(address)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(connection, tls)

    @property
    def is_shaking_hands(self) -> bool:
        """True before the end of the TLS handshake."""
        return self._tls is not None and not self._tls.is_agreed

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def has_input(self) -> bool:
        """True if bytes have arrived or the connection ended; cheaper than receive()."""
        return bool(self._input.poll(0))

    def write(self, frame: bytes) -> None:
        """Send a frame behind all earlier ones, now or at flush(). Raises OSError if the connection is lost."""
        if self._tls is not None:
            frame = self._tls.encrypted(frame)
            if not frame:
                return  # sent at the end of the handshake
        if self._unsent:
            # Behind the bytes that already wait, or frames would be torn apart.
            self._unsent += frame
            return
        try:
            sent = self._socket.send(frame)
        except BlockingIOError:
            sent = 0
        if sent < len(frame):
            self._unsent += frame[sent:]

    def flush(self) -> None:
        """Send what the socket takes now. The reader notices a lost connection."""
        try:
            del self._unsent[: self._socket.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent.clear()

    def receive(self) -> Iterable[Command] | None:
        """
        Return the commands that are complete, None at the peer's orderly end.

        Raises BlockingIOError if nothing has arrived, another OSError for a lost connection, and RemotingCommandException,
        perhaps after some commands, for bytes that are no frames.
        """
        data = self._socket.recv(_READ_BYTES)
        if data and self._tls is not None:
            return self._decrypted(data, self._tls)
        return self._frames.feed(data) if data else None

    def _decrypted(self, data: bytes, tls: "Encryption") -> Iterable[Command] | None:
        try:
            plain = tls.decrypted(data)
        finally:
            self._unsent += tls.outgoing()  # of the handshake, and writes that waited for it; an alert if it failed
            if self._unsent:
                self.flush()
        return None if plain is None else self._frames.feed(plain)

    def await_readable(self, remaining_ns: int, alarm: int) -> bool:
        """Wait until the socket is readable, the time is up or the alarm (an event descriptor) is set; True if readable."""
        seconds = min(_LONG_S, remaining_ns / 1e9)
        if self._descriptor < _SELECT_LIMIT and alarm < _SELECT_LIMIT:
            ready = select.select((self._descriptor, alarm), (), (), seconds)[0]
        else:
            ready = _polled({self._descriptor: select.POLLIN, alarm: select.POLLIN}, seconds)
        if alarm in ready:
            os.eventfd_read(alarm)
        return self._descriptor in ready

    def await_writable(self, remaining_ns: int) -> None:
        _polled({self._descriptor: select.POLLOUT}, remaining_ns / 1e9)

    def shut(self) -> None:
        """End the connection but keep the descriptor, on which a reader may still wait."""
        self._unsent.clear()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._unsent.clear()
        self._socket.close()


class Encryption:
    """
    TLS of one connection, without I/O: converts bytes of the socket to bytes of frames and back.

    Data to send waits until the handshake is over.
    """

    __slots__ = ("_in", "_object", "_out", "_waiting", "is_agreed")

    def __init__(self, context: ssl.SSLContext) -> None:
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._object = context.wrap_bio(self._in, self._out)
        self._waiting = bytearray()
        self.is_agreed = False

    def greeting(self) -> bytes:
        self._shake_hands()
        return self._out.read()

    def encrypted(self, plain: bytes) -> bytes:
        """Return bytes for the socket, none during the handshake."""
        if not self.is_agreed:
            self._waiting += plain
            return b""
        self._object.write(plain)
        return self._out.read()

    def decrypted(self, data: bytes) -> bytes | None:
        """
        Return the decrypted bytes, None at the peer's orderly end; afterwards outgoing() may have bytes to send.

        Raises ssl.SSLError, an OSError, for an untrusted certificate and for bytes that are no TLS.
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
        return bytes(plain) or None  # the peer has announced its end; the socket ends next

    def outgoing(self) -> bytes:
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
    """Return the descriptors with an event, at the latest when the time is up."""
    poll = select.poll()
    for descriptor, event in events.items():
        poll.register(descriptor, event)
    return [descriptor for descriptor, _ in poll.poll(seconds * 1_000)]
