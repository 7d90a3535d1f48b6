"""
Free ports for servers on this host, kept from other runs for as long as the reservation is held.

A port is reserved by binding an abstract Unix socket named after it: the kernel gives it to one process only, in the
same network namespace the port is in, and takes it back when that process ends, however it ends.
"""

import contextlib
import random
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rocketdiff.core.errors import EnvironmentMissing, UsageError

# Below the range the kernel takes for outgoing connections (32768 and up by default), which could take a port between
# our look and the server's start; above the ports that well-known servers use.
_LOWEST, _HIGHEST = 20_000, 32_700

# Some ports of the range are taken on any machine; a machine where this many draws in a row fail has another problem.
_DRAWS = 500

_LAST_PORT = 65_535

NAME_SERVER_PORTS = (0,)
"""A name server takes its port only."""

BROKER_PORTS = (-2, 0, 1)
"""A broker takes its port, the one two below (VIP channel) and the one above (replication)."""


@dataclass(frozen=True, slots=True)
class ReservedPort:
    """A port, with those that a server takes beside it, kept from other runs until release."""

    port: int
    _claims: tuple[socket.socket, ...]

    def release(self) -> None:
        """Let others have it; a second call does nothing."""
        for claim in self._claims:
            claim.close()


def reserve_free(offsets: Iterable[int], draw: Callable[[int, int], int] = random.randint) -> ReservedPort:
    """
    Reserve a port p such that p plus every offset is free on this host.

    Raises EnvironmentMissing if none is found.
    """
    offsets = tuple(offsets)
    for _ in range(_DRAWS):
        with contextlib.suppress(OSError):
            return _reserve(draw(_LOWEST, _HIGHEST), offsets)
    raise EnvironmentMissing(
        f"free ports between {_LOWEST} and {_HIGHEST}",
        seen=f"none in {_DRAWS} tries",
        hint="see what listens there with: ss -ltn",
    )


def require_port(port: int) -> None:
    """UsageError for a number that is no port."""
    if not 1 <= port <= _LAST_PORT:
        raise UsageError("a port between 1 and 65535", seen=str(port))


def reserve_given(port: int, offsets: Iterable[int], what: str) -> ReservedPort:
    """
    Reserve a port the user chose, for the server called ``what``.

    Raises UsageError for a number that is no port, EnvironmentMissing if it, or one beside it, cannot be had.
    """
    require_port(port)
    try:
        return _reserve(port, tuple(offsets))
    except OSError as error:
        raise EnvironmentMissing(
            f"port {port} to be free for the {what}",
            seen=(error.strerror or str(error)).lower(),
            hint=f"end what uses it (see: ss -ltnp 'sport = :{port}') or choose another port",
        ) from error


def _reserve(port: int, offsets: tuple[int, ...]) -> ReservedPort:
    """Reserve all of them or none; OSError says why not."""
    with contextlib.ExitStack() as undo:
        claims = []
        for offset in offsets:
            claims.append(undo.enter_context(_claim(port + offset)))
            _try_to_bind(port + offset)
        undo.pop_all()
    return ReservedPort(port, tuple(claims))


def _claim(port: int) -> socket.socket:
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0rocketdiff-port-{port}")
    except OSError:
        claim.close()
        raise
    return claim


def _try_to_bind(port: int) -> None:
    """See whether a server could listen there; on every address, because a server on any of them is in the way."""
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as trial:
        # As the servers do: without it a port in TIME_WAIT from a server that just ended would look taken.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        trial.bind(("0.0.0.0", port))  # noqa: S104  # bound for a moment, never listened on
