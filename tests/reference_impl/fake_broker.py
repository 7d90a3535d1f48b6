"""
A name server and brokers on loopback that speak the real protocol.

``script`` holds one reply per send; when it is empty, and for other requests (heartbeats, routes) unless ``silent``, a server
answers normally.
"""

import contextlib
import json
import socket
import ssl
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from rocketdiff.relay.proxy.listener import bound_socket, listening_socket
from rocketmq_reference.remoting.codes import RequestCode, ResponseCode
from rocketmq_reference.remoting.frames import Command, FrameBuffer, encode, respond_to
from rocketmq_reference.remoting.sending import parse_send_fields


@dataclass(frozen=True)
class Answer:
    """A response with this code; codes 0, 10, 11 and 12 have the header of a send response."""

    code: int = ResponseCode.SUCCESS
    remark: str | None = None


@dataclass(frozen=True)
class Late:
    """A normal response after a delay."""

    seconds: float


@dataclass(frozen=True)
class Silence:
    """No response."""


@dataclass(frozen=True)
class HangUp:
    """Close the connection, with a reset or a FIN."""

    reset: bool = False


Reply = Answer | Late | Silence | HangUp


@dataclass(frozen=True)
class Stored:
    """A message that a broker stored."""

    topic: str
    queue_id: int
    body: bytes
    fields: dict[str, str]


class FakeServer:
    """
    Accepts connections on a free loopback port; each connection's thread calls ``serve`` per request.

    two_below, two_above: sockets that hold the ports of the VIP channel, which refuse connects until they listen.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.silent = False
        self._tls = tls
        self.requests: list[Command] = []
        self.connections = 0
        self._open: set[socket.socket] = set()
        self._holder, self.two_below, self.two_above = _held_ports()
        self.address = f"127.0.0.1:{self._holder.getsockname()[1]}"
        self._threads: list[threading.Thread] = []
        self.come_back()

    def serve(self, request: Command) -> Command | Reply:
        raise NotImplementedError

    def requests_of(self, code: RequestCode) -> list[Command]:
        return [request for request in self.requests if request.code == code]

    def refuse(self, *, reset: bool = False) -> None:
        """Stop listening and close all connections, as a killed process does; the port stays held."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.hang_up(reset=reset)

    def come_back(self) -> None:
        """Listen on the held port, as a started or restarted process."""
        self._listener = self.listen_on(self._holder)

    def listen_on(self, holder: socket.socket) -> socket.socket:
        """Serve a held port too; return its listening socket, for the caller to close."""
        listener = listening_socket(holder)
        listener.listen()
        self._spawn(lambda: self._accept(listener))
        return listener

    def hang_up(self, *, reset: bool = False) -> None:
        for connection in list(self._open):
            self._close(connection, reset=reset)

    def send_unasked(self, command: Command) -> None:
        for connection in list(self._open):
            connection.sendall(encode(command))

    def close(self) -> None:
        self.refuse()
        for thread in self._threads:
            thread.join(5)
        for held in (self._holder, self.two_below, self.two_above):
            held.close()

    def _spawn(self, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                if self._tls is not None:
                    try:
                        connection = self._tls.wrap_socket(connection, server_side=True)
                    except OSError:  # the client does not trust the certificate or does not use TLS
                        connection.close()
                        continue
                self.connections += 1
                self._open.add(connection)
                self._spawn(lambda peer=connection: self._converse(peer))  # type: ignore[misc]

    def _converse(self, connection: socket.socket) -> None:
        frames = FrameBuffer()
        with contextlib.suppress(OSError):
            while data := connection.recv(65_536):
                for request in frames.feed(data):
                    self.requests.append(request)
                    if not self.silent and not request.is_response:
                        self._reply(connection, request)
        if connection in self._open:  # else another thread closes it, by a reset perhaps, which a FIN must not overtake
            self._close(connection)

    def _reply(self, connection: socket.socket, request: Command) -> None:
        reply = self.serve(request)
        match reply:
            case Command():
                connection.sendall(encode(reply))
            case HangUp():
                self._close(connection, reset=reply.reset)
            case Late():
                self._spawn(lambda: self._reply_late(connection, request, reply.seconds))
            case Answer():
                connection.sendall(encode(respond_to(request, reply.code, remark=reply.remark)))

    def _reply_late(self, connection: socket.socket, request: Command, seconds: float) -> None:
        time.sleep(seconds)
        with contextlib.suppress(OSError):
            self._reply(connection, request)

    def _close(self, connection: socket.socket, *, reset: bool = False) -> None:
        """A thread that still reads keeps a closed socket open: its read is ended first, which sends nothing."""
        self._open.discard(connection)
        with contextlib.suppress(OSError):
            if reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.shutdown(socket.SHUT_RD if reset else socket.SHUT_RDWR)
        connection.close()


class FakeBroker(FakeServer):
    """Stores messages; its replies to sends can be scripted."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.script: deque[Reply] = deque()
        self.stored: list[Stored] = []
        self.late: set[int] = set()
        super().__init__()

    def serve(self, request: Command) -> Command | Reply:
        if request.code == RequestCode.GET_MAX_OFFSET:
            return respond_to(request, ResponseCode.SUCCESS, ext_fields={"offset": "0"})
        if request.code not in (RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_MESSAGE, RequestCode.SEND_BATCH_MESSAGE):
            return respond_to(request, ResponseCode.SUCCESS)
        if request.opaque in self.late:
            return self._store(request, 0)
        reply = self.script.popleft() if self.script else Answer()
        if isinstance(reply, Late):
            self.late.add(request.opaque)
        if isinstance(reply, Answer) and reply.code in (0, 10, 11, 12):
            return self._store(request, reply.code)
        return reply

    def _store(self, request: Command, code: int) -> Command:
        fields = parse_send_fields(request)
        queue_id = int(fields["queueId"])
        offset = sum(1 for stored in self.stored if (stored.topic, stored.queue_id) == (fields["topic"], queue_id))
        self.stored.append(Stored(fields["topic"], queue_id, request.body, fields))
        header = {"msgId": f"{offset:032X}", "queueId": str(queue_id), "queueOffset": str(offset)}
        return respond_to(request, code, ext_fields=header)


class FakeNameServer(FakeServer):
    """Serves the route documents in ``routes``, by topic."""

    def __init__(self) -> None:
        self.routes: dict[str, dict[str, Any]] = {}
        super().__init__()

    def serve(self, request: Command) -> Command | Reply:
        if request.code != RequestCode.GET_ROUTEINFO_BY_TOPIC:
            return respond_to(request, ResponseCode.SUCCESS)
        topic = request.ext_fields["topic"]
        route = self.routes.get(topic)  # once: a test may take it away
        if route is None:
            return respond_to(request, ResponseCode.TOPIC_NOT_EXIST, remark=f"No topic route info: {topic}")
        return respond_to(request, ResponseCode.SUCCESS, body=json.dumps(route).encode())


def _held_ports() -> tuple[socket.socket, socket.socket, socket.socket]:
    """Return sockets that hold a free port, and the ports two below and two above it, and do not listen."""
    while True:
        with contextlib.ExitStack() as made:
            holder = made.enter_context(bound_socket(0))
            port = holder.getsockname()[1]
            try:
                below, above = (made.enter_context(bound_socket(port + distance)) for distance in (-2, 2))
            except OSError:  # taken by another program
                continue
            made.pop_all()
            return holder, below, above


@dataclass
class FakeCluster:
    """A name server and brokers ``broker-a``, ``broker-b`` …, each with four queues of topic T."""

    brokers: dict[str, FakeBroker] = field(default_factory=dict)
    name_server: FakeNameServer = field(default_factory=FakeNameServer)

    @classmethod
    def of(cls, *letters: str, topic: str | None = "T", queues: int = 4) -> Self:
        cluster = cls({f"broker-{letter}": FakeBroker(f"broker-{letter}") for letter in letters})
        if topic is not None:
            cluster.set_route(topic, dict.fromkeys(cluster.brokers, queues))
        return cluster

    def set_route(self, topic: str, queues: dict[str, int], *, perm: int = 6) -> None:
        self.name_server.routes[topic] = {
            "queueDatas": [
                {"brokerName": name, "readQueueNums": number, "writeQueueNums": number, "perm": perm, "topicSysFlag": 0}
                for name, number in queues.items()
            ],
            "brokerDatas": [
                {"cluster": "fake", "brokerName": name, "brokerAddrs": {"0": self.brokers[name].address}}
                for name in queues
            ],
            "filterServerTable": {},
        }

    def use_vip_ports(self) -> None:
        """Advertise ports two above the real ones, so that only the VIP channel works."""
        for route in self.name_server.routes.values():
            for broker in route["brokerDatas"]:
                host, port = self.brokers[broker["brokerName"]].address.split(":")
                broker["brokerAddrs"] = {"0": f"{host}:{int(port) + 2}"}

    def __getitem__(self, letter: str) -> FakeBroker:
        return self.brokers[f"broker-{letter}"]

    def close(self) -> None:
        for server in (self.name_server, *self.brokers.values()):
            server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
