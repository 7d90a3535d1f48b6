"""
One client connection through the relay: two sockets; each frame received on one is written to the other.

A frame is forwarded before it is decoded, because decoding takes longer; only an active switch needs it decoded first. When
one side does not accept bytes, reading from the other side stops. So a paused server blocks the client as without the relay,
and memory stays bounded. The end of one side ends the other in the same way: a FIN after all bytes, a reset at once.
"""

import asyncio
import socket
import ssl
import struct
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol, cast

from rocketdiff.relay.grpc.calls import CallReader
from rocketdiff.relay.proxy.switches import Action, Switch, Switchboard
from rocketdiff.relay.remoting.consuming import GROUP_CODES
from rocketdiff.relay.remoting.frames import FrameInfo, FrameSplitter, info_of, rerouted
from rocketdiff.relay.remoting.record import Closed, Connected, Opened, Passed, Refused, WireJournal

CLIENT, SERVER, RELAY = "client", "server", "relay"

MOST_WAITING_BYTES = 1 << 20
"""Reading stops when this many bytes wait for a side that does not read, or for a delay; exceeded by at most one frame."""

_RESET = struct.pack("ii", 1, 0)


CLOSED_WITHIN_S = 1.0
"""Time limit for the other side's TLS close_notify; a paused server sends none."""


@dataclass(frozen=True, slots=True)
class Encryption:
    """TLS contexts of a relay: as server and as client."""

    to_clients: ssl.SSLContext
    to_servers: ssl.SSLContext


@dataclass(slots=True)
class RelayState:
    """
    State shared by all connections of a relay.

    relays: address of the relay by address of the server. moved: likewise the new server addresses that no route has named
    yet, with their nodes. tls: None for plain connections.
    """

    journal: WireJournal
    switchboard: Switchboard = field(default_factory=Switchboard)
    relays: dict[str, str] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    connections: int = 0
    tls: Encryption | None = None

    def note_moves(self, frame: bytes) -> None:
        """Record the brokers of which this response tells the client a new address; until then it knew a closed port."""
        for address in [address for address in self.moved if address.encode() in frame]:
            self.journal.put(Opened(self.moved.pop(address), time.monotonic_ns()))


class Endpoint(Protocol):
    """The listener that accepted the client."""

    @property
    def node(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def is_vip(self) -> bool: ...
    @property
    def reroutes(self) -> bool: ...

    def probe_server(self) -> None:
        """Probe whether the server still accepts connections, after it closed or refused one."""
        ...


@dataclass(slots=True)
class _Delayed:
    """codes: of its switch. Frames of other codes overtake it, as they do at a broker, which has threads for each kind of request."""

    frame: bytes
    record: Passed
    due_ns: int
    codes: tuple[int, ...]

    def holds_up(self, code: int | None) -> bool:
        """True if a later frame keeps its place. code: of its request."""
        return not self.codes or code in self.codes


class Splitter(Protocol):
    """Splits the bytes of one side into the pieces that are forwarded."""

    def feed(self, data: bytes) -> Iterable[bytes]:
        """Return the complete pieces."""
        ...


class Side(asyncio.Protocol):
    """One of the two sockets; ``to`` is the receiver of the bytes read from it."""

    def __init__(self, connection: "RelayedConnection", to: str) -> None:
        self.connection = connection
        self.to = to
        self.splitter: Splitter = connection.splitter()
        self.delayed: deque[_Delayed] = deque()
        self.delayed_bytes = 0
        self.is_over = False
        self._transport: asyncio.Transport | None = None

    @property
    def transport(self) -> asyncio.Transport:
        assert self._transport is not None
        return self._transport

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self.is_over

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=MOST_WAITING_BYTES)
        self._transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.to == SERVER:
            self._transport.pause_reading()
            self.connection.begin()

    def data_received(self, data: bytes) -> None:
        in_ns = time.monotonic_ns()
        for frame in self.splitter.feed(data):
            self.connection.take(self, frame, in_ns)

    def pause_writing(self) -> None:
        self.connection.other(self).pause_reading()

    def resume_writing(self) -> None:
        self.connection.other(self).resume_reading()

    def pause_reading(self) -> None:
        if self.is_open:
            self.transport.pause_reading()

    def resume_reading(self) -> None:
        """Resume reading unless too many bytes are delayed."""
        if self.is_open and self.delayed_bytes <= MOST_WAITING_BYTES:
            self.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_over = True
        self.connection.lost(self, reset=exc is not None)

    def reset(self) -> None:
        """Close with RST: SO_LINGER with time 0 makes close() send a reset instead of a FIN."""
        if self.is_open:
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.transport.abort()


class RelayedConnection:
    """A client's connection and the connection to its server, opened when the listener accepts the client."""

    def __init__(self, endpoint: Endpoint, shared: RelayState) -> None:
        shared.connections += 1
        self.number = shared.connections
        self._endpoint = endpoint
        self._shared = shared
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self._asked: dict[int, int] = {}
        """Codes of the requests of a group that have no response yet, by number; a switch may be turned on before it comes."""
        self.client = Side(self, SERVER)
        self.server = Side(self, CLIENT)

    @staticmethod
    def splitter() -> Splitter:
        return FrameSplitter()

    def other(self, side: Side) -> Side:
        return self.server if side is self.client else self.client

    def begin(self) -> None:
        """Connect to the server; called when the client is connected."""
        self._task = asyncio.get_running_loop().create_task(self._connect())

    def take(self, side: Side, frame: bytes, in_ns: int) -> None:
        """Forward and record one complete frame, subject to the switches."""
        note = None
        if self._endpoint.reroutes and side is self.server:
            self._shared.note_moves(frame)
            frame, unknown = rerouted(frame, self._shared.relays)
            note = f"past the relay: {' '.join(unknown)}" if unknown else None
        if self._shared.switchboard.is_idle and not side.delayed:
            out_ns = self._write(side, frame)
            info = info_of(frame)
            self._asked_code(side, info)
            self._note(self._passed(side, frame, info, in_ns, note), out_ns)
            return
        info = info_of(frame)
        code = self._asked_code(side, info)
        switch = self._shared.switchboard.choose(self._endpoint.node, side.to, info, code)
        self._switched(side, frame, self._passed(side, frame, info, in_ns, note), switch, code)

    def lost(self, side: Side, *, reset: bool) -> None:
        """End the other side after this one: at once after a reset, otherwise after the delayed frames."""
        hung_up_first = not self._is_closed
        by = CLIENT if side is self.client else SERVER
        self._close(by, reset=reset)
        if side is self.server and hung_up_first:
            self._endpoint.probe_server()
        across = self.other(side)
        if reset:
            side.delayed.clear()
            across.reset()
        elif not side.delayed and across.is_open:
            across.transport.close()

    async def _connect(self) -> None:
        endpoint = self._endpoint
        loop = asyncio.get_running_loop()
        try:
            tls = self._shared.tls
            if tls is None:
                await loop.create_connection(lambda: self.server, endpoint.host, endpoint.port)
            else:
                await loop.create_connection(
                    lambda: self.server,
                    endpoint.host,
                    endpoint.port,
                    ssl=tls.to_servers,
                    ssl_shutdown_timeout=CLOSED_WITHIN_S,
                )
        except OSError:
            self._is_closed = self.server.is_over = True
            self._shared.journal.put(Refused(self.number, endpoint.node, time.monotonic_ns()))
            self.client.reset()
            endpoint.probe_server()
            return
        self._shared.journal.put(Connected(self.number, endpoint.node, time.monotonic_ns(), endpoint.is_vip))
        if self.client.is_over:
            self.server.transport.close()
        else:
            self.client.resume_reading()

    def _asked_code(self, side: Side, info: FrameInfo) -> int | None:
        """Return the code of a request, or of the one that a response answers; None of any other, such as a broker's own request."""
        if side is self.server:
            return self._asked.pop(info.opaque, None) if info.response else None
        if info.response:
            return None
        if info.code in GROUP_CODES and not info.oneway:
            self._asked[info.opaque] = info.code
        return info.code

    def _switched(self, side: Side, frame: bytes, record: Passed, switch: Switch | None, code: int | None) -> None:
        action = None if switch is None else switch.action
        if action is Action.RESET:
            self._note(replace(record, action=action), None)
            self._close(RELAY, reset=True)
            for each in (self.client, self.server):
                each.reset()
        elif action is Action.SWALLOW:
            self._note(replace(record, action=action), None)
        elif action is Action.DELAY or (side.delayed and side.delayed[-1].holds_up(code)):
            delay_ms = 0.0 if switch is None else switch.delay_ms
            codes = side.delayed[-1].codes if switch is None else switch.codes
            self._delay(side, frame, replace(record, action=action), delay_ms, codes)
        else:
            self._note(record, self._write(side, frame))

    def _delay(self, side: Side, frame: bytes, record: Passed, delay_ms: float, codes: tuple[int, ...]) -> None:
        due_ns = max(record.in_ns + int(delay_ms * 1e6), side.delayed[-1].due_ns if side.delayed else 0)
        side.delayed.append(_Delayed(frame, record, due_ns, codes))
        side.delayed_bytes += len(frame)
        if side.delayed_bytes > MOST_WAITING_BYTES:
            side.pause_reading()
        asyncio.get_running_loop().call_later(max(0, due_ns - time.monotonic_ns()) / 1e9, self._release, side)

    def _release(self, side: Side) -> None:
        while side.delayed and side.delayed[0].due_ns <= time.monotonic_ns() + 100_000:  # the loop's clock is coarser
            due = side.delayed.popleft()
            side.delayed_bytes -= len(due.frame)
            record = replace(due.record, released_ns=time.monotonic_ns())
            self._note(record, self._write(side, due.frame))
        if side.is_over and not side.delayed and self.other(side).is_open:
            self.other(side).transport.close()
        else:
            side.resume_reading()

    def _write(self, side: Side, frame: bytes) -> int | None:
        across = self.other(side)
        if not across.is_open:
            return None
        across.transport.write(frame)
        return None if across.transport.get_write_buffer_size() else time.monotonic_ns()

    def _passed(self, side: Side, frame: bytes, info: FrameInfo, in_ns: int, note: str | None) -> Passed:
        return Passed(
            self.number,
            self._endpoint.node,
            side.to,
            info.opaque,
            info.code,
            len(frame),
            in_ns,
            response=info.response,
            oneway=info.oneway,
            topic=info.topic,
            queue_id=info.queue_id,
            queue_offset=info.queue_offset,
            identity=info.identity,
            unique_key=info.unique_key,
            queues=info.queues,
            group=info.group,
            note=note or info.note,
        )

    def _note(self, record: Passed, out_ns: int | None) -> None:
        self._shared.journal.put(record if out_ns is None else replace(record, out_ns=out_ns))

    def _close(self, by: str, *, reset: bool) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._shared.journal.put(Closed(self.number, self._endpoint.node, time.monotonic_ns(), by, reset))


class _AsItComes:
    """Splitter that returns the bytes as received."""

    def feed(self, data: bytes) -> Iterable[bytes]:
        return (data,)


class GrpcConnection(RelayedConnection):
    """
    Connection of a gRPC client: bytes are forwarded unchanged, then decoded into calls.

    So the client sees the proxy's own refusals, silences and resets. Switches have no effect, because dropping a frame would
    corrupt the header compression of all later frames.
    """

    def __init__(self, endpoint: Endpoint, shared: RelayState) -> None:
        super().__init__(endpoint, shared)
        self._calls = CallReader(self.number, endpoint.node)
        self._is_read = True

    @staticmethod
    def splitter() -> Splitter:
        return _AsItComes()

    def take(self, side: Side, frame: bytes, in_ns: int) -> None:
        """Forward the bytes, then decode them; the first bytes that are not gRPC end the decoding."""
        self._write(side, frame)
        if not self._is_read:
            return
        try:
            for call in self._calls.feed(side.to, frame, in_ns):
                self._shared.journal.put(call)
        except ValueError as error:
            self._is_read = False
            note = f"not gRPC: {error}"
            self._shared.journal.put(
                Passed(self.number, self._endpoint.node, side.to, 0, 0, len(frame), in_ns, note=note)
            )

    def _close(self, by: str, *, reset: bool) -> None:
        for call in self._calls.closed(by, time.monotonic_ns()):
            self._shared.journal.put(call)
        super()._close(by, reset=reset)
