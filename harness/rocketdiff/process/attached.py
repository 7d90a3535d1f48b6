"""
A program that its author starts, in an IDE or under a debugger, and that connects by itself: each connection is one conversation.

It is never signalled: the end of a conversation closes its connection.
"""

import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable
from signal import Signals

from rocketdiff.core.closing import Closing
from rocketdiff.core.errors import EnvironmentMissing

LOOPBACK = "127.0.0.1"

VARIABLE = "ROCKETDIFF_ATTACH"
"""Environment variable by which a driver knows where to connect, as ``host:port``."""

SILENCE_S = 30.0
"""A client in calm reports something every few seconds; after this time a user is reminded that the program is waited for."""

_CHUNK_BYTES = 1 << 18


class AttachPoint(Closing):
    """
    A port of loopback at which the program connects.

    began_ns: monotonic time from which its clock may have been read. notify: takes sentences for the user.
    """

    def __init__(self, port: int, wait_s: float, notify: Callable[[str], None]) -> None:
        """Listen; port 0 takes a free one. Raises EnvironmentMissing if the port is taken."""
        self.began_ns = time.monotonic_ns()
        self._wait_s, self._notify = wait_s, notify
        self._known: Connection | None = None
        try:
            self._socket = socket.create_server((LOOPBACK, port))
        except OSError as error:
            raise EnvironmentMissing(
                f"port {port} of {LOOPBACK} to be free",
                seen=error.strerror or str(error),
                hint="--port 0 takes a free one",
            ) from error
        self._socket.settimeout(wait_s)

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self._socket.getsockname()[1]}"

    def connection(self) -> "Connection":
        """Return the connection that was kept, else the next one. Raises EnvironmentMissing if the program does not come in time."""
        kept, self._known = self._known, None
        return kept or self._accepted()

    def keep(self, connection: "Connection") -> None:
        """Hand this connection out next."""
        self._known = connection

    def close(self) -> None:
        self._socket.close()
        if self._known is not None:
            self._known.close()

    def _accepted(self) -> "Connection":
        try:
            accepted, _ = self._socket.accept()
        except TimeoutError:
            raise EnvironmentMissing(
                f"your program to connect to {self.address} within {self._wait_s:g} s",
                seen="no connection",
                hint=f"start it with {VARIABLE}={self.address} in its environment; --wait SECONDS waits longer",
            ) from None
        return Connection(accepted, self._notify)


class Connection:
    """One conversation, with the methods of ``Child`` that a conversation needs. Thread-safe if only one thread calls ``hear``."""

    pid = 0
    """Its process is its author's, and not watched."""

    def __init__(self, connected: socket.socket, notify: Callable[[str], None]) -> None:
        self._socket, self._notify = connected, notify
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lines: list[bytes] = []
        self._unfinished = b""
        self._ended = threading.Event()
        self._heard_at = time.monotonic()
        self._is_reminded = False
        self.heard_bytes = 0

    @property
    def unfinished_bytes(self) -> int:
        return len(self._unfinished)

    def unread(self, lines: list[bytes]) -> None:
        """Let ``hear`` return these lines once more."""
        self._lines = lines + self._lines

    def hear(self, timeout_s: float) -> list[bytes] | None:
        """Return the complete lines received; None if nothing came in time. Raises EOFError at the end of the connection."""
        if self._lines:
            lines, self._lines = self._lines, []
            return lines
        ready, _, _ = select.select([self._socket], [], [], timeout_s)
        if not ready:
            self._remind()
            return None
        try:
            data = self._socket.recv(_CHUNK_BYTES)
        except OSError:
            data = b""
        if not data:
            self._ended.set()
            raise EOFError
        self._heard_at, self._is_reminded = time.monotonic(), False
        self.heard_bytes += len(data)
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        return lines

    def write(self, data: bytes, timeout_s: float) -> bool:
        """Write all of ``data``; False if the program does not read it in time. True if it is gone: ``hear`` reports that."""
        deadline = time.monotonic() + timeout_s
        rest = memoryview(data)
        while rest:
            _, ready, _ = select.select([], [self._socket], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return False
            try:
                rest = rest[self._socket.send(rest, socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                continue
            except OSError:
                return True
        return True

    def close_input(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def await_end(self, timeout_s: float) -> bool:
        """Return True if it closes the connection in time."""
        return self._ended.wait(timeout_s)

    def kill(self) -> None:
        """End the conversation; the program is left alone."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._socket.close()

    def below(self) -> list[int]:
        """None are ours."""
        return []

    def send(self, processes: Iterable[int], number: Signals) -> None:
        """Signal none: ``below`` names none."""

    def stop(self) -> None:
        """Stop none, likewise."""

    def go_on(self) -> None:
        """Resume none, likewise."""

    def status(self) -> int:
        return 0

    def how_it_ended(self, within_s: float = 0.0) -> str:  # noqa: ARG002 - Child's
        return "it closed its connection"

    def last_words(self) -> str:
        """Its stderr is its author's."""
        return ""

    def stderr_bytes(self) -> int:
        return 0

    def _remind(self) -> None:
        if not self._is_reminded and time.monotonic() - self._heard_at > SILENCE_S:
            self._is_reminded = True
            self._notify(f"Nothing heard for {SILENCE_S:g} s. No limit applies (a breakpoint?); Ctrl-C ends.")
