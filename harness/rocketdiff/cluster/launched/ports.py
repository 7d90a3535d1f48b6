"""
Free ports for servers on this host, reserved against other runs.

A port is reserved by binding an abstract Unix socket named after its number: only one process per network namespace can hold
it, and the kernel releases it when that process ends.
"""

import contextlib
import random
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rocketdiff.core.errors import EnvironmentMissing, UsageError

# Below the kernel's range for outgoing connections (by default from 32768), which could take a port between our check and
# the server's start; above the ports of well-known servers.
_LOWEST, _HIGHEST = 20_000, 32_700

# Some ports are taken on any machine; if this many draws in a row fail, the machine has another problem.
_DRAWS = 500

_LAST_PORT = 65_535

NAME_SERVER_PORTS = (0,)
"""A name server uses only its port."""

BROKER_PORTS = (-2, 0, 1)
"""A broker uses its port, port - 2 (VIP channel) and port + 1 (replication)."""

LOCAL_PROXY_OFFSET = 2
"""A broker that is also a proxy serves gRPC on port + 2."""

PROXY_PORTS = (0,)
"""A proxy that we start uses only its gRPC port."""


@dataclass(frozen=True, slots=True)
class ReservedPort:
    """A server's port and its further ports, reserved until release()."""

    port: int
    _claims: tuple[socket.socket, ...]

    def release(self) -> None:
        """A second call does nothing."""
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
    """Raise UsageError for a number that is no port."""
    if not 1 <= port <= _LAST_PORT:
        raise UsageError("a port between 1 and 65535", seen=str(port))


def reserve_given(port: int, offsets: Iterable[int], what: str) -> ReservedPort:
    """
    Reserve a port that the user chose. what: name of its server.

    Raises UsageError for a number that is no port, EnvironmentMissing if it or another port of the server is not free.
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
    """Reserve all ports or none; raises OSError."""
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
    """Check that a server could listen there; on every address, because a server on any address would conflict."""
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as trial:
        # As servers do. Without it, a port in TIME_WAIT after a server's end would count as used.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        trial.bind(("0.0.0.0", port))  # noqa: S104  # bound briefly, never listened on
