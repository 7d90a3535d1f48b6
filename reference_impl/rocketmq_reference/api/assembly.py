"""
One live client: the client's coroutines on threads, sockets and the clock (MQClientInstance).

Every producer has its own; in Java the producers of a process with equal client ids share one.
"""

import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rocketmq_reference.api.codec import FrameCodec, HeardAttempts, vip_address
from rocketmq_reference.api.listener import Listener, RouteChanged
from rocketmq_reference.api.message import Message, SendResult
from rocketmq_reference.api.settings import ProducerSettings
from rocketmq_reference.client.async_sending import AsyncSender
from rocketmq_reference.client.background import Background, Rounds
from rocketmq_reference.client.memory import Memory
from rocketmq_reference.client.remoting import CALLBACKS, Remoting
from rocketmq_reference.client.routes import NameServers, Routes
from rocketmq_reference.client.sending import Sender
from rocketmq_reference.host.access import OPEN, Access
from rocketmq_reference.host.channels import Question
from rocketmq_reference.host.host import LiveHost
from rocketmq_reference.host.network import Network
from rocketmq_reference.remoting.frames import Command
from rocketmq_reference.rules.client.publish import PublishInfo
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.async_rules import AsyncThread
from rocketmq_reference.rules.tape import Tape

_FIRST_INDEX_BELOW = 999  # initValueIndex of NettyRemotingClient
_POOLS = {CALLBACKS: "NettyClientPublicExecutor", AsyncThread.OWN: "AsyncSenderExecutor"}
"""Pools with one thread per processor, and their names in Java."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client's parts; ``host.run`` runs the coroutines that they return."""

    host: LiveHost
    memory: Memory
    network: Network
    routes: Routes
    sender: Sender[Message, Question, Command, SendResult]
    async_sender: AsyncSender[Message, Question, Command, SendResult]
    background: Background

    def shutdown(self, *, say_goodbye: bool) -> None:
        """Unregister from the brokers if say_goodbye, and close all connections; calls under way fail."""
        self.host.tell(self.host.close)
        if say_goodbye:
            self.host.run(self.background.say_goodbye())
        self.host.tell(self.network.shut_down)


def live_client(
    name_servers: Sequence[str],
    group: str,
    dialect: Dialect,
    settings: ProducerSettings,
    listener: Listener | None,
    tapes: Callable[[], Tape],
    access: Access = OPEN,
) -> Client:
    """Make a client; its background tasks are not started yet."""
    host = LiveHost(group, dict.fromkeys(_POOLS, os.cpu_count() or 1), _POOLS)
    memory = Memory(dialect, settings, tapes)
    network = Network(host, tls=access.tls)
    remoting: Remoting[Question, Command] = Remoting(host, dialect.client.remoting, network)
    network.remoting = remoting
    client_id = f"127.0.0.1@{os.getpid()}#{time.monotonic_ns()}"
    codec = FrameCodec(dialect, settings, group, client_id, access.credentials)
    first = random.randrange(_FIRST_INDEX_BELOW)
    asked = NameServers(tuple(name_servers), host, remoting, dialect.client.remoting, first)
    routes = Routes(memory, host, remoting, codec, asked, settings, _route_changed(listener))
    sender = Sender(memory, host, routes, remoting, codec, HeardAttempts(listener), vip_address)
    workers = {
        AsyncThread.CALLBACKS: remoting.workers[CALLBACKS],
        AsyncThread.OWN: host.worker(AsyncThread.OWN),
    }
    rounds = Rounds(
        settings.poll_name_server_interval_ms,
        settings.heartbeat_broker_interval_ms,
        settings.mq_client_api_timeout_ms,
        settings.first_poll_ms,
        settings.first_heartbeat_ms,
    )
    background = Background(memory, host, routes, remoting, codec, rounds, vip_address)
    return Client(host, memory, network, routes, sender, AsyncSender(sender, workers), background)


def _route_changed(listener: Listener | None) -> Callable[[str, int, PublishInfo], None] | None:
    if listener is None:
        return None

    def told(topic: str, version: int, info: PublishInfo) -> None:
        queues = tuple((queue.broker, queue.queue_id) for queue in info.queues)
        listener.route_changed(RouteChanged(topic, version, time.monotonic_ns(), queues))

    return told
