"""
One live client without a role: the client's coroutines on threads, sockets and the clock (MQClientInstance).

Roles add themselves to its memory, their tasks to its background, and handlers of the servers' requests to its remoting. Java's
clients of a process with equal client ids share one.
"""

import os
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rocketmq_reference.client.background import Background, Rounds
from rocketmq_reference.client.memory import ClientMemory
from rocketmq_reference.client.remoting import CALLBACKS, Remoting
from rocketmq_reference.client.routes import NameServers, Routes, RouteSettings
from rocketmq_reference.host.access import OPEN, Access
from rocketmq_reference.host.channels import Question
from rocketmq_reference.host.codec import FrameCodec
from rocketmq_reference.host.host import LiveHost
from rocketmq_reference.host.network import Network
from rocketmq_reference.remoting.frames import Command, Serialization
from rocketmq_reference.rules.client.known_routes import KnownRoutes
from rocketmq_reference.rules.dialect import Dialect

_FIRST_INDEX_BELOW = 999  # initValueIndex of NettyRemotingClient
_CALLBACK_THREADS = "NettyClientPublicExecutor"


class ClientSettings(RouteSettings, Protocol):
    """Settings of a client, whatever its roles (ClientConfig); times in milliseconds."""

    @property
    def poll_name_server_interval_ms(self) -> int: ...
    @property
    def heartbeat_broker_interval_ms(self) -> int: ...
    @property
    def first_poll_ms(self) -> int: ...
    @property
    def first_heartbeat_ms(self) -> int: ...
    @property
    def serialization(self) -> Serialization: ...


@dataclass(frozen=True, slots=True)
class LiveClient:
    """A client's parts; ``host.run`` runs the coroutines that they return."""

    client_id: str
    host: LiveHost
    memory: ClientMemory
    network: Network
    remoting: Remoting[Question, Command]
    routes: Routes
    background: Background

    def shutdown(self, *, unregister_client: bool) -> None:
        """Unregister from the brokers if say_goodbye, and close all connections; calls under way fail."""
        self.host.post(self.host.close)
        if unregister_client:
            self.host.run(self.background.unregister_client())
        self.host.post(self.network.shut_down)


def live_client(
    name_servers: Sequence[str],
    name: str,
    dialect: Dialect,
    settings: ClientSettings,
    known: KnownRoutes,
    access: Access = OPEN,
    pools: Mapping[str, str] | None = None,
    sizes: Mapping[str, int] | None = None,
    instance: str | None = None,
    *,
    is_stream: bool = False,
) -> LiveClient:
    """
    Make a client; its background tasks are not started yet.

    name: in the names of its threads. pools: further pools of its roles with one thread per processor, and their names in Java.
    sizes: of pools with another number of threads. instance: in the client id; None for one that no other client has.
    is_stream: the client id says that it is of a lite pull consumer.
    """
    pools = {CALLBACKS: _CALLBACK_THREADS, **(pools or {})}
    host = LiveHost(name, {**dict.fromkeys(pools, os.cpu_count() or 1), **(sizes or {})}, pools)
    memory = ClientMemory(dialect, known)
    network = Network(host, tls=access.tls)
    remoting: Remoting[Question, Command] = Remoting(host, dialect.client.remoting, network)
    network.remoting = remoting
    client_id = f"127.0.0.1@{instance or f'{os.getpid()}#{time.monotonic_ns()}'}" + "@STREAM" * is_stream
    codec = FrameCodec(dialect, settings.serialization, client_id, access.credentials)
    first = random.randrange(_FIRST_INDEX_BELOW)
    asked = NameServers(tuple(name_servers), host, remoting, dialect.client.remoting, first)
    routes = Routes(memory, host, remoting, codec, asked, settings)
    rounds = Rounds(
        settings.poll_name_server_interval_ms,
        settings.heartbeat_broker_interval_ms,
        settings.mq_client_api_timeout_ms,
        settings.first_poll_ms,
        settings.first_heartbeat_ms,
    )
    background = Background(memory, host, routes, remoting, codec, rounds)
    return LiveClient(client_id, host, memory, network, remoting, routes, background)
