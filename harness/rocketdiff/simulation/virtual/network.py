"""
The network between the client and the scripted servers.

Every arrival is an event of the client; the connection rules decide its consequences. A server responds on the request's
connection, and only while that is open.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from rocketdiff.simulation.virtual.codec import NAME_SERVER, broker_at, is_send, response_to
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketdiff.simulation.virtual.servers import Server, Servers
from rocketmq_reference.client.remoting import Call
from rocketmq_reference.rules.client.background import CONNECT_TIMEOUT_MS, IDLE_MS
from rocketmq_reference.rules.client.connection_steps import Connection, Request


class NetworkClient(Protocol):
    """The remoting client, as the network calls it."""

    def connected(self, connection: Connection, *, accepted: bool) -> None: ...

    def answered(self, number: int, code: int, answer: Any) -> None: ...

    def requested(self, connection: Connection, code: int, asked: Any) -> bool: ...

    def closed(self, connection: Connection, *, reset: bool) -> None: ...

    def idle(self, connection: Connection) -> None:
        """The connection had no traffic for IDLE_MS."""
        ...


Respond = Callable[[Any], None]
"""Sends the answer to a request, if its connection is still open then."""


class Brokers(Protocol):
    """Brokers that read requests themselves."""

    def serve(self, address: str, question: Any, respond: Respond, /) -> bool:
        """Answer a request that a server has read, now or later; False for one of another kind."""
        ...


class VirtualNetwork:
    """Transports connects, requests, responses and closes."""

    client: NetworkClient

    def __init__(self, kernel: Kernel, servers: Servers, brokers: Brokers | None = None) -> None:
        self.brokers = brokers
        self._is_shut_down = False
        self._kernel = kernel
        self.servers = servers
        self._open: list[Connection] = []
        self._used_ms: dict[int, int] = {}  # by identity of the connection

    def connect(self, connection: Connection, first: Call | None) -> None:
        """Start a connect; its result is an event."""
        if self._is_shut_down:
            return
        sending = first is not None and is_send(first.question)
        self._kernel.after(0, lambda: self._meet(connection, sending=sending))

    def look(self, _address: str) -> None:
        """Do nothing: every event is reported immediately."""

    def close(self, connection: Connection) -> None:
        """The client closes its side."""
        if connection in self._open:
            self._open.remove(connection)

    def write(self, request: Request, call: Call) -> None:
        """Deliver a request to its server at once."""
        if self._is_shut_down:
            return
        connection = request.connection
        self._use(connection)
        outcome = _Outcome(self, request, connection, call.question)
        self._server(connection.address).arrive(outcome, is_send=is_send(call.question))

    def respond(self, connection: Connection, asked: object, answer: object) -> None:
        """Not implemented: scripted servers ask nothing that is answered."""
        raise NotImplementedError

    def request(self, broker: str, code: int, asked: object = None) -> None:
        """A broker asks the client something on each of its connections."""
        for connection in [each for each in self._open if each.address != NAME_SERVER]:
            if broker_at(connection.address) == broker:
                self._use(connection)
                self.client.requested(connection, code, asked)

    def shut_down(self) -> None:
        """The client ends: what its timers still write or connect to goes nowhere."""
        self._is_shut_down = True
        self._open.clear()

    def close_all(self, broker: str, *, reset: bool) -> None:
        for connection in [connection for connection in self._open if broker_at(connection.address) == broker]:
            self._kernel.after(0, self._ending(connection, reset=reset))

    def _meet(self, connection: Connection, *, sending: bool) -> None:
        server = self._server(connection.address)
        if server.is_silent:
            self._hang(server, connection)
            return
        accepted = server.accepts(is_send=sending)
        if accepted:
            self._open.append(connection)
            self._use(connection)
        self.client.connected(connection, accepted=accepted)
        if accepted:
            self._watch_idleness(connection)

    def _hang(self, server: Server, connection: Connection) -> None:
        def fail() -> None:
            if server.give_up(id(connection)):
                self.client.connected(connection, accepted=False)

        # One that meets a silent server again still fails at its first timeout.
        server.hang(id(connection), lambda: self._meet(connection, sending=False))
        self._kernel.after(CONNECT_TIMEOUT_MS, fail)

    def _ending(self, connection: Connection, *, reset: bool) -> Callable[[], None]:
        return lambda: self.end(connection, reset=reset)

    def connected(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for connection in self._open:
            if connection.address != NAME_SERVER:
                broker = broker_at(connection.address)
                counts[broker] = counts.get(broker, 0) + 1
        return counts

    def carries(self, connection: Connection) -> bool:
        """True if the connection is open; if so, note that it was used."""
        is_open = connection in self._open
        if is_open:
            self._use(connection)
        return is_open

    def end(self, connection: Connection, *, reset: bool) -> None:
        """The server closes or resets its side."""
        if connection in self._open:
            self._open.remove(connection)
            self.client.closed(connection, reset=reset)

    def _use(self, connection: Connection) -> None:
        self._used_ms[id(connection)] = self._kernel.now_ms

    def _watch_idleness(self, connection: Connection) -> None:
        def look() -> None:
            if connection not in self._open:
                return
            if self._kernel.now_ms - self._used_ms[id(connection)] >= IDLE_MS:
                self._use(connection)
                self.client.idle(connection)
            self._watch_idleness(connection)

        self._kernel.at(self._used_ms[id(connection)] + IDLE_MS, look)

    def _server(self, address: str) -> Server:
        if address == NAME_SERVER:
            return self.servers.name_server.server
        return self.servers.broker(broker_at(address))


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The end of one request; its response is dropped unless the connection is open."""

    network: VirtualNetwork
    request: Request
    connection: Connection
    question: Any

    def answered(self, code: int) -> None:
        brokers = self.network.brokers
        if brokers is None or not brokers.serve(self.connection.address, self.question, self._respond):
            self._respond(response_to(self.question, code, self.network.servers.name_server.route))

    def _respond(self, answer: Any) -> None:
        if self.network.carries(self.connection):
            self.network.client.answered(self.request.number, answer.code, answer)

    def broken(self, *, reset: bool) -> None:
        self.network.end(self.connection, reset=reset)
