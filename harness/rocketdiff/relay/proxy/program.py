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
from rocketdiff.relay.proxy.listener import Upstream, listeners_for
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
    """One order: turn a switch on or off, or stop."""

    on: Switch | None = None
    off: int | None = None
    stop: bool = False


class RelayReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reply: addresses by node at the start, the number of a switch, or at the end the record count and any write error."""

    addresses: dict[str, str] | None = None
    switch: int | None = None
    records: int | None = None
    problem: str = ""


async def relay(configuration: Configuration) -> None:
    """Relay until the order to stop."""
    journal = WireJournal(Path(configuration.journal))
    shared = RelayState(journal, tls=None if configuration.tls is None else configuration.tls.encryption())
    addresses = {}
    for upstream in configuration.upstreams:
        for listener in listeners_for(upstream, shared):
            await listener.open()
            if not listener.is_vip:
                addresses[upstream.name] = listener.address
                shared.relays[upstream.address] = listener.address
    send_reply(RelayReply(addresses=addresses))
    flushing = asyncio.get_running_loop().create_task(_keep_flushing(journal))
    await _obey(shared)
    flushing.cancel()
    journal.close()
    send_reply(RelayReply(records=journal.records, problem=journal.problem))


async def _obey(shared: RelayState) -> None:
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
