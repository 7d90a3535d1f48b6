"""
Free ports for servers on this host, reserved against other runs.

A port is reserved by binding an abstract Unix socket with its number as name: only one process per network namespace can have it,
and the kernel releases it when that process ends in any way.
"""

import contextlib
import random
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rocketdiff.core.errors import EnvironmentMissing, UsageError

# Below the kernel's range for outgoing connections (32768 and up by default), which could take a port between our check
# and the server's start; above the ports of well-known servers.
_LOWEST, _HIGHEST = 20_000, 32_700

# Some ports of the range are taken on any machine; a machine where this many draws in a row fail has another problem.
_DRAWS = 500

_LAST_PORT = 65_535

NAME_SERVER_PORTS = (0,)
"""A name server uses its port only."""

BROKER_PORTS = (-2, 0, 1)
"""A broker uses its port, the one two below (VIP channel) and the one above (replication)."""

LOCAL_PROXY_OFFSET = 2
"""A broker that is a proxy too serves gRPC on the port two above its own."""

PROXY_PORTS = (0,)
"""A proxy that we start has its gRPC port only."""


@dataclass(frozen=True, slots=True)
class ReservedPort:
    """A port and the others of its server, reserved until release."""

    port: int
    _claims: tuple[socket.socket, ...]

    def release(self) -> None:
        """Ends the reservation. A second call does nothing."""
        for claim in self._claims:
            claim.close()


def reserve_free(offsets: Iterable[int], draw: Callable[[int, int], int] = random.randint) -> ReservedPort:
    """
    Reserves a port p such that p plus every offset is free on this host.

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
    """Raises UsageError for a number that is no port."""
    if not 1 <= port <= _LAST_PORT:
        raise UsageError("a port between 1 and 65535", seen=str(port))


def reserve_given(port: int, offsets: Iterable[int], what: str) -> ReservedPort:
    """
    Reserves a port that the user chose, for the server named ``what``.

    Raises UsageError for a number that is no port, EnvironmentMissing if it, or another port of the server, is not free.
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
    """Reserves all of them or none; raises OSError."""
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
    """Checks that a server could listen there; on every address, because a server on any of them would conflict."""
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as trial:
        # As servers do: without it a port in TIME_WAIT of a server that just ended would count as used.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        trial.bind(("0.0.0.0", port))  # noqa: S104  # bound for a moment, never listened on
