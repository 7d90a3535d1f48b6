"""
The relay as a process of its own: ``python -m rocketdiff.relay.proxy.program CONFIGURATION``.

It prints its addresses, reads one order per line, answers each with a line, and ends on ``stop`` or at the end of its input.
It is a process of its own, so that neither the runner's work nor another arm's relay delays a client.
"""

import asyncio
import contextlib
import gc
import os
import sys
from pathlib import Path

import msgspec

from rocketdiff.relay.proxy.connection import RelayState
from rocketdiff.relay.proxy.listener import Upstream, listeners_for
from rocketdiff.relay.proxy.switches import Switch
from rocketdiff.relay.remoting.record import FLUSH_S, WireJournal


class Configuration(msgspec.Struct, frozen=True):
    """Arguments of the relay process."""

    upstreams: tuple[Upstream, ...]
    journal: str


class RelayOrder(msgspec.Struct, frozen=True):
    """One order to the relay: turn a switch on, turn one off, or stop."""

    on: Switch | None = None
    off: int | None = None
    stop: bool = False


class RelayReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer of the relay: addresses by node at the start, the number of a switch, at the end the number of records or the write error."""

    addresses: dict[str, str] | None = None
    switch: int | None = None
    records: int | None = None
    problem: str = ""


async def relay(configuration: Configuration) -> None:
    """Relay until the order to stop."""
    journal = WireJournal(Path(configuration.journal))
    shared = RelayState(journal)
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
    """Print one line to the parent, which may have ended."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, msgspec.json.encode(reply) + b"\n")


def main() -> None:
    """Run until the order to stop; open connections end with the process."""
    configuration = msgspec.json.decode(sys.argv[1], type=Configuration)
    gc.freeze()
    asyncio.run(relay(configuration))


if __name__ == "__main__":
    main()
