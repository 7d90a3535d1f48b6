"""A relay of the engine's socket, closed to make the engine unreachable."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_BYTES = 65_536


class Severable:
    """A relay on a Unix socket; sever() removes it and cuts open connections."""

    def __init__(self, path: Path, upstream: str) -> None:
        self.path = path
        self._upstream = upstream
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def sever(self) -> None:
        """A second call does nothing."""
        self.path.unlink(missing_ok=True)
        for one in (self._listener, *self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                there = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                there.connect(self._upstream)
                self._open += (here, there)
                for source, target in ((here, there), (there, here)):
                    threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_BYTES):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@contextmanager
def severable(path: Path, upstream: str) -> Iterator[Severable]:
    relay = Severable(path, upstream)
    try:
        yield relay
    finally:
        relay.sever()
