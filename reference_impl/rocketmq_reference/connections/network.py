"""Sockets of one client: connects, requests written, answers read, all told to Remoting as events."""

import os
import ssl
import threading
import time
from typing import Any

from rocketmq_reference.client.effects import Signal
from rocketmq_reference.client.remoting import Call, Remoting
from rocketmq_reference.connections.host import LiveHost, Sleeper
from rocketmq_reference.connections.wire import Wire
from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.errors import RemotingCommandException, RemotingConnectException
from rocketmq_reference.remoting.frames import Command, encode, respond_to
from rocketmq_reference.rules.client.background import CONNECT_TIMEOUT_MS
from rocketmq_reference.rules.client.connection_steps import Connection, Kind, Request, State

_TURN_NS = 1_000_000_000
"""After which a watcher looks whether it is still wanted, and how long it stays rather than come back for every request."""


class Network:
    """Makes connections and carries what goes over them; all but the waiting with the client's lock held."""

    remoting: Remoting[Any, Command]

    def __init__(
        self, host: LiveHost, connect_timeout_ms: int = CONNECT_TIMEOUT_MS, tls: ssl.SSLContext | None = None
    ) -> None:
        self._host = host
        self._connect_timeout_ms = connect_timeout_ms
        self._tls = tls
        self._is_closed = False

    def connect(self, connection: Connection, _first: Call | None) -> None:
        """Try to connect, in a thread of its own."""
        name = f"connect-{connection.address}"
        threading.Thread(target=self._connect, args=(connection,), name=name, daemon=True).start()

    def write(self, request: Request, call: Call) -> None:
        """A request goes out; whoever waits for its answer reads there from now on."""
        channel: Channel = request.connection.channel
        call.over.source = channel
        if channel.write(call.question(request.number)):
            if request.kind is Kind.ASYNC or request.redirected:
                channel.watch()
        elif request.kind is not Kind.ONE_WAY:  # nobody would be told
            self._host.soon(lambda: self.remoting.write_failed(request))

    def close(self, connection: Connection) -> None:
        """The client closes a connection."""
        connection.channel.close()

    def look(self, address: str) -> None:
        """While nobody reads a connection, what comes there goes unnoticed, a close as well; so this looks."""
        connection = self.remoting.connections.current(address)
        if connection is not None and connection.state is State.OPEN:
            channel: Channel = connection.channel
            channel.look()

    def shut_down(self) -> None:
        """Close every connection for good; connects under way come to nothing."""
        self._is_closed = True
        self.remoting.close_all()

    def _connect(self, connection: Connection) -> None:
        wire: Wire | None = None
        try:
            if not self._is_closed:
                wire = Wire.connect(connection.address, self._connect_timeout_ms, self._tls)
        except RemotingConnectException:
            pass
        self._host.tell(lambda: self._connected(connection, wire))

    def _connected(self, connection: Connection, wire: Wire | None) -> None:
        if wire is not None and self._is_closed:
            wire.close()
            wire = None
        if wire is not None:
            connection.channel = Channel(self._host, self.remoting, connection, wire)
        self.remoting.connected(connection, accepted=wire is not None)
        if wire is not None and wire.is_shaking_hands:
            connection.channel.watch()  # nobody else may ever read there, and what is written waits for the other side


class Channel:
    """One connection's socket: who reads it, who waits for what is read there, and its watcher."""

    def __init__(self, host: LiveHost, remoting: Remoting[Any, Command], connection: Connection, wire: Wire) -> None:
        self._host = host
        self._remoting = remoting
        self._connection = connection
        self._wire = wire
        self._flushes = False
        self._watches = False
        self._wanted = Signal()
        self._alarm = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._is_released = False
        self.is_open = True
        self.has_reader = False
        self.is_awaited = False
        self.sleepers: list[Sleeper] = []

    def write(self, frame: bytes) -> bool:
        """Send as much as goes out at once, the rest in the background; False if the connection is lost."""
        if not self.is_open:
            return False
        try:
            self._wire.write(frame)
        except OSError:
            return False
        self._flush_soon()
        return True

    def close(self) -> None:
        """
        Close from this side.

        The descriptor stays until its reader has left it, or another socket could get its number.
        """
        if self.is_open:
            self.is_open = False
            self._wire.shut()
            self._release()

    def await_bytes(self, remaining_ns: int) -> bool:
        """Wait until something has come, or the time is up, or the reader is roused."""
        return self._wire.await_readable(remaining_ns, self._alarm)

    def rouse(self) -> None:
        """Have the reader look around, if it waits."""
        if self.is_awaited:
            os.eventfd_write(self._alarm, 1)

    def look(self) -> None:
        """Read what has come already, if nobody reads."""
        while not self.has_reader and self.is_open and self._wire.has_input():
            self.read()

    def read(self) -> bool:
        """Take what has come and tell the client of it; False where there was nothing or the connection is over."""
        if not self.is_open:
            return False
        try:
            commands = self._wire.receive()
        except BlockingIOError:
            return False
        except (OSError, RemotingCommandException):
            return self._lost(reset=True)
        if commands is None:
            return self._lost(reset=False)
        self._flush_soon()  # what waited for the end of a handshake
        for command in commands:
            if command.is_response:
                self._remoting.answered(command.opaque, command.code, command)
            elif not command.is_oneway:
                self._refuse(command)
        return True

    def resign(self) -> None:
        """Nobody reads any more: whoever sleeps here does from now on, or the watcher; a dead socket is closed."""
        if not self.is_open:
            self._release()
        elif self.sleepers:
            self.sleepers[0].rouse()
        elif self._watches and self._is_watcher_wanted():
            self._host.give(self._wanted)

    def watch(self) -> None:
        """Somebody is to be told of an answer that no thread waits for."""
        if not self._watches:
            self._watches = True
            self._spawn("watcher", self._watch)
        elif not self.has_reader:
            self._host.give(self._wanted)

    def _lost(self, *, reset: bool) -> bool:
        self.close()
        self._remoting.closed(self._connection, reset=reset)
        return False

    def _refuse(self, request: Command) -> None:
        """Answer a server's request: this client serves none (NettyRemotingAbstract.processRequestCommand)."""
        remark = f" request type {request.code} not supported"
        self.write(encode(respond_to(request, ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)))

    def _is_watcher_wanted(self) -> bool:
        return self.is_open and (
            self._wire.is_shaking_hands or self._remoting.connections.has_unattended(self._connection)
        )

    def _watch(self) -> None:
        """Read while there is something that nobody else waits for; stay a while, then go."""
        while True:
            deadline_ns = time.monotonic_ns() + _TURN_NS
            if self._is_watcher_wanted() and not self.has_reader:
                nobodys = Signal()
                nobodys.source = self
                self._host.lead(self, nobodys, deadline_ns, self._is_watcher_wanted)
                continue
            self._wanted = Signal()
            self._host.sleep(self._wanted, deadline_ns)
            if not self._wanted.given and not self._is_watcher_wanted():
                self._watches = False
                return

    def _flush_soon(self) -> None:
        if self._wire.has_unsent and not self._flushes:
            self._flushes = True
            self._spawn("flush", self._flush)

    def _flush(self) -> None:
        """Send what the socket did not take at once."""
        while self.is_open and self._wire.has_unsent:
            self._host.leave()
            try:
                self._wire.await_writable(_TURN_NS)
            finally:
                self._host.enter()
            if self.is_open:
                self._wire.flush()
        self._flushes = False
        if not self.is_open:
            self._release()

    def _release(self) -> None:
        """Give the descriptors back once nobody waits on them any more."""
        if not (self.has_reader or self._flushes or self._is_released):
            self._is_released = True
            self._wire.close()
            os.close(self._alarm)

    def _spawn(self, role: str, work: Any) -> None:
        name = f"{role}-{self._connection.address}"
        threading.Thread(target=self._host.tell, args=(work,), name=name, daemon=True).start()
