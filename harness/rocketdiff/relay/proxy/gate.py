"""
Where clients come in: a listening port for one server, open only while that server accepts connections itself.

A killed server refuses connections at once, and clients tell that apart from one that is slow; so the gate stops to listen
when its server is seen to refuse, and listens again when it does not. In between the port stays ours: a second socket is
bound to it that never listens, so that the kernel answers with the same refusal.
"""

import asyncio
import contextlib
import random
import socket
import time
from dataclasses import dataclass

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.relay.proxy.link import Link, Surroundings
from rocketdiff.relay.remoting.wire import Opened, Shut

LOOPBACK = "127.0.0.1"
VIP_OFFSET = -2
"""Clients before 4.5.0 send to the port two below a broker's, where it listens as well."""

_LOWEST, _HIGHEST = 20_000, 32_700
"""Below the range the kernel takes for outgoing connections, as for the cluster's own ports."""

_DRAWS = 500
_LOOK_AGAIN_S = 0.02
"""How late the relay listens again after its server does."""

_LOOKS_AFTER_S = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)
"""When a server that hung up is looked at: one that ends may lose its connections before its port."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A server to relay to; ``name`` as in records, ``address`` as ``host:port``."""

    name: str
    address: str
    is_broker: bool


class Gate:
    """One port; the door of its links."""

    def __init__(self, upstream: Upstream, holder: socket.socket, shared: Surroundings, *, is_vip: bool) -> None:
        host, _, port = upstream.address.rpartition(":")
        self.node = upstream.name
        self.host = host.strip("[]")
        self.port = int(port) + (VIP_OFFSET if is_vip else 0)
        self.is_vip = is_vip
        self.reroutes = not upstream.is_broker
        self._holder = holder
        self._shared = shared
        self._server: asyncio.Server | None = None
        self._looking: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        """Where clients connect."""
        return f"{LOOPBACK}:{self._holder.getsockname()[1]}"

    async def open(self) -> None:
        """Listen from now on."""
        if self._server is None:
            listener = beside(self._holder)
            loop = asyncio.get_running_loop()
            self._server = await loop.create_server(lambda: Link(self, self._shared).client, sock=listener)

    def look_upstream(self) -> None:
        """See whether the server refuses, and listen no longer than it does."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().create_task(self._follow())

    async def _follow(self) -> None:
        for after_s in _LOOKS_AFTER_S:
            await asyncio.sleep(after_s)
            if not await self._is_there():
                break
        while not await self._is_there():
            if self._server is not None:
                self._server.close()
                self._server = None
                self._shared.journal.put(Shut(self.node, time.monotonic_ns()))
            await asyncio.sleep(_LOOK_AGAIN_S)
        if self._server is None:
            await self.open()
            self._shared.journal.put(Opened(self.node, time.monotonic_ns()))

    async def _is_there(self) -> bool:
        try:
            _, writer = await asyncio.open_connection(self.host, self.port)
        except OSError:
            return False
        writer.close()
        return True


def gates_for(upstream: Upstream, shared: Surroundings) -> list[Gate]:
    """The gate of a name server, or the two of a broker, on free ports; EnvironmentMissing if there are none."""
    offsets = (0, VIP_OFFSET) if upstream.is_broker else (0,)
    for _ in range(_DRAWS):
        port = random.randint(_LOWEST, _HIGHEST)
        with contextlib.suppress(OSError):
            return _gates(upstream, shared, [port + offset for offset in offsets])
    raise EnvironmentMissing("free ports for a relay", seen=f"none in {_DRAWS} tries", hint="see what listens: ss -ltn")


def _gates(upstream: Upstream, shared: Surroundings, ports: list[int]) -> list[Gate]:
    with contextlib.ExitStack() as undo:
        holders = []
        for port in ports:
            holders.append(holding(port))
            undo.callback(holders[-1].close)
        undo.pop_all()
    return [Gate(upstream, holder, shared, is_vip=number > 0) for number, holder in enumerate(holders)]


def holding(port: int) -> socket.socket:
    """
    A socket on a port that nobody else has; OSError if somebody does.

    Shared only afterwards: two relays that both asked to share from the start could get the same port.
    """
    holder = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        holder.bind((LOOPBACK, port))
    except OSError:
        holder.close()
        raise
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    return holder


def beside(holder: socket.socket) -> socket.socket:
    """A second socket on the port of one that holds it, to listen with."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(holder.getsockname())
    return listener
