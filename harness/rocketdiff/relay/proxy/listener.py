"""
Listening ports of the relay: one per server, open only while that server accepts connections.

Clients distinguish a killed server, which refuses connections at once, from a slow one, so a port closes while its server
refuses. A second socket, which never listens, keeps the port bound: the kernel refuses connections, and no other program can
take the port.
"""

import asyncio
import contextlib
import random
import socket
import time
from dataclasses import dataclass

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.relay.proxy.connection import CLOSED_WITHIN_S, GrpcConnection, RelayedConnection, RelayState
from rocketdiff.relay.remoting.record import Opened, Shut

LOOPBACK = "127.0.0.1"
VIP_OFFSET = -2
"""Clients before 4.5.0 send to the VIP port, two below the broker's own port."""

_LOWEST, _HIGHEST = 20_000, 32_700
"""Below the kernel's range for outgoing connections, like the cluster's own ports."""

_TRIES = 500
_PROBE_INTERVAL_S = 0.02
"""Polling interval while the server refuses."""

_PROBES_AFTER_S = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)
"""Delays before the probes of a server that closed a connection; a process may lose its connections before its port."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A server behind the relay. name: as in records. address: ``host:port``. is_grpc: the address serves gRPC."""

    name: str
    address: str
    is_broker: bool
    is_grpc: bool = False


class RelayListener:
    """One listening port; relays every accepted connection."""

    def __init__(self, upstream: Upstream, holder: socket.socket, shared: RelayState, *, is_vip: bool) -> None:
        host, _, port = upstream.address.rpartition(":")
        self.node = upstream.name
        self.host = host.strip("[]")
        self.port = int(port) + (VIP_OFFSET if is_vip else 0)
        self.is_vip = is_vip
        self.reroutes = not upstream.is_broker
        self._connection = GrpcConnection if upstream.is_grpc else RelayedConnection
        self._holder = holder
        self._shared = shared
        self._server: asyncio.Server | None = None
        self._probing: asyncio.Task[None] | None = None
        self._is_left = False

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self._holder.getsockname()[1]}"

    async def open(self) -> None:
        if self._server is None:
            listener = listening_socket(self._holder)
            loop = asyncio.get_running_loop()
            tls = self._shared.tls
            self._server = await loop.create_server(
                lambda: self._connection(self, self._shared).client,
                sock=listener,
                ssl=None if tls is None else tls.to_clients,
                ssl_shutdown_timeout=None if tls is None else CLOSED_WITHIN_S,
            )

    def leave(self) -> None:
        """Refuse from now on, because the server has moved; the port stays bound."""
        if self._probing is not None:
            self._probing.cancel()
        self._is_left = True
        self._shut()

    def probe_server(self) -> None:
        """Probe the server in the background and stop listening while it refuses."""
        if self._is_left:
            return
        if self._probing is None or self._probing.done():
            self._probing = asyncio.get_running_loop().create_task(self._follow())

    async def _follow(self) -> None:
        for after_s in _PROBES_AFTER_S:
            await asyncio.sleep(after_s)
            if not await self._accepts():
                break
        while not await self._accepts():
            self._shut()
            await asyncio.sleep(_PROBE_INTERVAL_S)
        if self._server is None:
            await self.open()
            self._shared.journal.put(Opened(self.node, time.monotonic_ns()))

    def _shut(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
            self._shared.journal.put(Shut(self.node, time.monotonic_ns()))

    async def _accepts(self) -> bool:
        try:
            _, writer = await asyncio.open_connection(self.host, self.port)
        except OSError:
            return False
        writer.close()
        return True


def listeners_for(upstream: Upstream, shared: RelayState) -> list[RelayListener]:
    """
    Return listeners on free ports: one for a name server, two for a broker (its port and its VIP port).

    Raises EnvironmentMissing if no ports are free.
    """
    offsets = (0, VIP_OFFSET) if upstream.is_broker else (0,)
    for _ in range(_TRIES):
        port = random.randint(_LOWEST, _HIGHEST)
        with contextlib.suppress(OSError):
            return _listeners(upstream, shared, [port + offset for offset in offsets])
    raise EnvironmentMissing("free ports for a relay", seen=f"none in {_TRIES} tries", hint="see what listens: ss -ltn")


def _listeners(upstream: Upstream, shared: RelayState, ports: list[int]) -> list[RelayListener]:
    with contextlib.ExitStack() as undo:
        holders = []
        for port in ports:
            holders.append(bound_socket(port))
            undo.callback(holders[-1].close)
        undo.pop_all()
    return [RelayListener(upstream, holder, shared, is_vip=number > 0) for number, holder in enumerate(holders)]


def bound_socket(port: int) -> socket.socket:
    """
    Return a socket bound to a free port; raises OSError if the port is taken.

    SO_REUSEPORT is set after the bind, because two relays that set it before could get the same port.
    """
    holder = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        holder.bind((LOOPBACK, port))
    except OSError:
        holder.close()
        raise
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    return holder


def listening_socket(holder: socket.socket) -> socket.socket:
    """Return a second socket, for listening, on the port that ``holder`` keeps bound."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(holder.getsockname())
    return listener
