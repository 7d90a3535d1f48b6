"""
The relay process: ``python -m rocketdiff.relay.proxy.program``.

It reads one line of configuration, prints its addresses, then answers one order per line until ``stop`` or the end of stdin.
It is a separate process so that neither the runner nor the other arm's relay delays a client.
"""

import asyncio
import contextlib
import gc
import os
import ssl
import sys
from pathlib import Path

import msgspec

from rocketdiff.relay.proxy.connection import Encryption, RelayState
from rocketdiff.relay.proxy.listener import RelayListener, Upstream, listeners_for
from rocketdiff.relay.proxy.switches import Switch
from rocketdiff.relay.remoting.record import FLUSH_S, WireJournal
from rocketmq_reference.host.access import tls_context


class RelayTls(msgspec.Struct, frozen=True):
    """
    TLS files, read once before the relay prints its addresses.

    certificate, key: shown to the relay's clients. The others are for its servers, as in core.security.Tls.
    """

    certificate: str
    key: str
    ca: str | None = None
    own_certificate: str | None = None
    own_key: str | None = None
    own_key_password: str | None = None

    def encryption(self) -> Encryption:
        """Return the TLS contexts; raises OSError for unusable files."""
        to_clients = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        to_clients.load_cert_chain(self.certificate, self.key)
        ca, own, key = (None if each is None else Path(each) for each in (self.ca, self.own_certificate, self.own_key))
        return Encryption(to_clients, tls_context(ca, own, key, self.own_key_password))


class Configuration(msgspec.Struct, frozen=True):
    """First line of stdin; not in the arguments, because it may hold a password."""

    upstreams: tuple[Upstream, ...]
    journal: str
    tls: RelayTls | None = None


class RelayOrder(msgspec.Struct, frozen=True):
    """One order: turn a switch on or off, follow a broker to its new address, or stop."""

    on: Switch | None = None
    off: int | None = None
    move: Upstream | None = None
    stop: bool = False


class RelayReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reply: addresses by node at the start and after a move, the number of a switch, or at the end the record count and any write error."""

    addresses: dict[str, str] | None = None
    switch: int | None = None
    records: int | None = None
    problem: str = ""


async def relay(configuration: Configuration) -> None:
    """Relay until the order to stop."""
    journal = WireJournal(Path(configuration.journal))
    shared = RelayState(journal, tls=None if configuration.tls is None else configuration.tls.encryption())
    listening = Listening(shared)
    send_reply(RelayReply(addresses={each.name: await listening.open(each) for each in configuration.upstreams}))
    flushing = asyncio.get_running_loop().create_task(_keep_flushing(journal))
    await _obey(shared, listening)
    flushing.cancel()
    journal.close()
    send_reply(RelayReply(records=journal.records, problem=journal.problem))


class Listening:
    """The listeners by node, and those that were left: each keeps its port bound."""

    def __init__(self, shared: RelayState) -> None:
        self._shared = shared
        self._listeners: dict[str, list[RelayListener]] = {}
        self._left: list[RelayListener] = []

    async def open(self, upstream: Upstream) -> str:
        """Listen for a server; return the address for clients."""
        listeners = self._listeners[upstream.name] = listeners_for(upstream, self._shared)
        for listener in listeners:
            await listener.open()
        self._shared.relays[upstream.address] = listeners[0].address
        return listeners[0].address

    async def move(self, upstream: Upstream) -> str:
        """Refuse at a broker's former ports, and listen on others for its new address; return the one for clients."""
        for listener in self._listeners[upstream.name]:
            listener.leave()
        self._left += self._listeners[upstream.name]
        self._shared.moved[upstream.address] = upstream.name
        return await self.open(upstream)


async def _obey(shared: RelayState, listening: Listening) -> None:
    orders = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    while line := await orders.readline():
        order = msgspec.json.decode(line, type=RelayOrder)
        if order.stop:
            return
        if order.on is not None:
            send_reply(RelayReply(switch=shared.switchboard.turn_on(order.on)))
        elif order.off is not None:
            shared.switchboard.turn_off(order.off)
            send_reply(RelayReply(switch=order.off))
        elif order.move is not None:
            send_reply(RelayReply(addresses={order.move.name: await listening.move(order.move)}))


async def _keep_flushing(journal: WireJournal) -> None:
    while True:
        await asyncio.sleep(FLUSH_S)
        journal.flush()


def send_reply(reply: RelayReply) -> None:
    """Print one line to the parent, which may have exited."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, msgspec.json.encode(reply) + b"\n")


def main() -> None:
    """Run until the order to stop; open connections end with the process."""
    configuration = msgspec.json.decode(_first_line(), type=Configuration)
    gc.freeze()
    asyncio.run(relay(configuration))


def _first_line() -> bytes:
    """Read byte by byte: a buffer would swallow later lines, which the event loop reads."""
    line = bytearray()
    while (byte := os.read(sys.stdin.fileno(), 1)) not in (b"", b"\n"):
        line += byte
    return bytes(line)


if __name__ == "__main__":
    main()
