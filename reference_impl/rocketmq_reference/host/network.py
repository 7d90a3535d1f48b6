"""Sockets of one client: connects, writes requests, reads answers, and reports all of it to Remoting as events."""

import os
import ssl
import threading
import time
from dataclasses import replace
from typing import Any

from rocketmq_reference.client.effects import Signal
from rocketmq_reference.client.remoting import Call, Remoting
from rocketmq_reference.host.host import LiveHost, Sleeper
from rocketmq_reference.host.wire import Wire
from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.errors import RemotingCommandException, RemotingConnectException
from rocketmq_reference.remoting.frames import RESPONSE_FLAG, Command, encode, respond_to
from rocketmq_reference.rules.client.background import CONNECT_TIMEOUT_MS
from rocketmq_reference.rules.client.connection_steps import Connection, Kind, Request, State

_TURN_NS = 1_000_000_000
"""Interval at which a watcher checks whether it is still needed; it also stays idle this long before its thread ends."""


class Network:
    """Connections of one client; all methods but those that block run with the client's lock held."""

    remoting: Remoting[Any, Command]

    def __init__(
        self, host: LiveHost, connect_timeout_ms: int = CONNECT_TIMEOUT_MS, tls: ssl.SSLContext | None = None
    ) -> None:
        self._host = host
        self._connect_timeout_ms = connect_timeout_ms
        self._tls = tls
        self._is_closed = False

    def connect(self, connection: Connection, _first: Call | None) -> None:
        name = f"connect-{connection.address}"
        threading.Thread(target=self._connect, args=(connection,), name=name, daemon=True).start()

    def write(self, request: Request, call: Call) -> None:
        """Write a request; the thread that waits for its answer reads this connection from now on."""
        channel: Channel = request.connection.channel
        call.over.source = channel
        if channel.write(call.question(request.number)):
            # No thread reads here for these: a redirected request's own thread may still read the old connection.
            if request.kind is Kind.ASYNC or request.redirected:
                channel.watch()
        elif request.kind is not Kind.ONE_WAY:  # a one-way request has no caller to notify
            # As an event of its own: the caller does not wait yet.
            self._host.soon(lambda: self.remoting.write_failed(request))

    def respond(self, connection: Connection, asked: Command, answer: Command) -> None:
        if not asked.is_oneway:
            flag = answer.flag | RESPONSE_FLAG
            answer = replace(answer, opaque=asked.opaque, flag=flag, serialization=asked.serialization)
            connection.channel.write(encode(answer))

    def close(self, connection: Connection) -> None:
        connection.channel.close()

    def look(self, address: str) -> None:
        """Read what has arrived on an idle connection, which no thread reads; otherwise a close would go unnoticed."""
        connection = self.remoting.connections.current(address)
        if connection is not None and connection.state is State.OPEN:
            channel: Channel = connection.channel
            channel.look()

    def shut_down(self) -> None:
        """Close every connection permanently; connects under way fail."""
        # Set first: a connect that succeeds later sees it and closes its socket.
        self._is_closed = True
        self.remoting.close_all()

    def _connect(self, connection: Connection) -> None:
        wire: Wire | None = None
        try:
            if not self._is_closed:
                wire = Wire.connect(connection.address, self._connect_timeout_ms, self._tls)
        except RemotingConnectException:
            pass
        self._host.post(lambda: self._connected(connection, wire))

    def _connected(self, connection: Connection, wire: Wire | None) -> None:
        if wire is not None and self._is_closed:
            wire.close()
            wire = None
        if wire is not None:
            connection.channel = Channel(self._host, self.remoting, connection, wire)
        self.remoting.connected(connection, accepted=wire is not None)
        if wire is not None and (wire.is_shaking_hands or self.remoting.serves):
            # Perhaps no other thread reads there, and writes wait for the handshake, a server for its answer.
            connection.channel.watch()


class Channel:
    """Socket of one connection, with its reader, the threads that wait for answers, and its watcher."""

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
        """Send as much as the socket takes, the rest in the background; False if the connection is lost."""
        if not self.is_open:
            return False
        try:
            self._wire.write(frame)
        except OSError:
            # Not reported as a close here: the reader sees the loss and reports it once.
            return False
        self._flush_soon()
        return True

    def close(self) -> None:
        """
        Close from this side.

        The descriptor stays open until its reader has left; otherwise another socket could get its number.
        """
        if self.is_open:
            self.is_open = False
            self._wire.shut()
            self._release()

    def await_bytes(self, remaining_ns: int) -> bool:
        return self._wire.await_readable(remaining_ns, self._alarm)

    def rouse(self) -> None:
        if self.is_awaited:
            os.eventfd_write(self._alarm, 1)

    def look(self) -> None:
        while not self.has_reader and self.is_open and self._wire.has_input():
            self.read()

    def read(self) -> bool:
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
            elif not self._remoting.requested(self._connection, command.code, command) and not command.is_oneway:
                self._refuse(command)
        return True

    def resign(self) -> None:
        """Hand the reading over to a thread that sleeps here, or to the watcher; release a closed socket."""
        # A sleeper is preferred to the watcher: it reads its own answer without another thread switch.
        if not self.is_open:
            self._release()
        elif self.sleepers:
            self.sleepers[0].rouse()
        elif self._watches and self._is_watcher_wanted():
            self._host.give(self._wanted)

    def watch(self) -> None:
        """Ensure that a watcher reads answers that no thread waits for."""
        if not self._watches:
            self._watches = True
            self._spawn("watcher", self._watch)
        elif not self.has_reader:
            self._host.give(self._wanted)

    def _lost(self, *, reset: bool) -> bool:
        # Closed first, so that the steps of the event find the socket closed.
        self.close()
        self._remoting.closed(self._connection, reset=reset)
        return False

    def _refuse(self, request: Command) -> None:
        """Refuse a server's request of a code that this client does not serve (NettyRemotingAbstract.processRequestCommand)."""
        remark = f" request type {request.code} not supported"
        self.write(encode(respond_to(request, ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)))

    def _is_watcher_wanted(self) -> bool:
        return self.is_open and (
            self._wire.is_shaking_hands
            or self._remoting.serves
            or self._remoting.connections.has_unattended(self._connection)
        )

    def _watch(self) -> None:
        """Read while answers without a waiting thread are pending; after _TURN_NS without any, end."""
        while True:
            deadline_ns = time.monotonic_ns() + _TURN_NS
            if self._is_watcher_wanted() and not self.has_reader:
                signal = Signal()
                signal.source = self
                self._host.lead(self, signal, deadline_ns, self._is_watcher_wanted)
                continue
            # Another thread reads, or nothing is pending: sleep until watch() or resign() gives the signal. A thread
            # that ended after every request would have to be started for every request.
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
        """Close the descriptors once no thread waits on them."""
        if not (self.has_reader or self._flushes or self._is_released):
            self._is_released = True
            self._wire.close()
            os.close(self._alarm)

    def _spawn(self, role: str, work: Any) -> None:
        name = f"{role}-{self._connection.address}"
        threading.Thread(target=self._host.post, args=(work,), name=name, daemon=True).start()
