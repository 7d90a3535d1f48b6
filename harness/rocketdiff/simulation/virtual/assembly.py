"""Assembles a client from the parts that a depth needs."""

from dataclasses import dataclass, fields
from typing import Any

from rocketdiff.simulation.script.vocabulary import ScriptSettings
from rocketdiff.simulation.virtual.codec import NAME_SERVER, AttemptRecorder, ScriptCodec, vip_address
from rocketdiff.simulation.virtual.loop_transport import LoopTransport
from rocketdiff.simulation.virtual.network import VirtualNetwork
from rocketdiff.simulation.virtual.servers import Servers
from rocketdiff.simulation.virtual.worker import VirtualHost
from rocketmq_reference.client.async_sending import AsyncSender
from rocketmq_reference.client.background import Background, Rounds
from rocketmq_reference.client.codec import Transport
from rocketmq_reference.client.detection import Detection
from rocketmq_reference.client.memory import ClientMemory, ProducerMemory
from rocketmq_reference.client.publishing import PublishLists, known_routes
from rocketmq_reference.client.remoting import CALLBACKS, Remoting
from rocketmq_reference.client.routes import NameServers, Routes
from rocketmq_reference.client.sending import Sender
from rocketmq_reference.rules.client.background import API_TIMEOUT_MS
from rocketmq_reference.rules.producer.async_rules import AsyncThread
from rocketmq_reference.rules.producer.settings import SendSettings

_GROUP = "group"  # no answer depends on it


@dataclass(frozen=True, slots=True)
class RouteDefaults:
    """Settings that a script cannot change."""

    default_topic_queue_nums: int = 4
    mq_client_api_timeout_ms: int = API_TIMEOUT_MS


@dataclass(frozen=True, slots=True)
class RemotingParts:
    """The parts that exist only at depth "remoting"."""

    network: VirtualNetwork
    background: Background


@dataclass(frozen=True, slots=True)
class VirtualClient:
    """What every role has of an assembled client."""

    routes: Routes
    connected: RemotingParts | None = None


@dataclass(frozen=True, slots=True)
class VirtualProducer:
    """The assembled producer; asynchronous sends exist only at depth "remoting"."""

    client: VirtualClient
    sender: Sender[Any, Any, Any, Any]
    async_sender: AsyncSender[Any, Any, Any, Any] | None = None


def producer_without_network(memory: ProducerMemory, host: VirtualHost, servers: Servers) -> VirtualProducer:
    """Assemble the producer of depths "selection" and "send-loop"."""
    sender = _sender(_shared(memory), memory, host, LoopTransport(host, servers))
    return VirtualProducer(VirtualClient(sender.routes), sender)


def producer_with_network(
    memory: ProducerMemory, host: VirtualHost, servers: Servers, settings: ScriptSettings
) -> VirtualProducer:
    """Assemble the producer of depth "remoting" and start its timers."""
    network = VirtualNetwork(host, servers)
    remoting: Remoting[Any, Any] = Remoting(host, memory.dialect.client.remoting, network)
    network.client = remoting
    shared = _shared(memory)
    sender = _sender(shared, memory, host, remoting)
    rounds = Rounds(settings.poll_name_server_interval_ms, settings.heartbeat_broker_interval_ms, API_TIMEOUT_MS)
    detection = Detection(memory, host, sender.routes.known, remoting, sender.codec, vip_address)
    background = Background(shared, host, sender.routes, remoting, ScriptCodec(), rounds)
    background.tasks.extend(detection.tasks())
    workers = {AsyncThread.CALLBACKS: remoting.workers[CALLBACKS], AsyncThread.OWN: host.worker(AsyncThread.OWN)}
    async_sender = AsyncSender(sender, workers)
    background.start()
    client = VirtualClient(sender.routes, RemotingParts(network, background))
    return VirtualProducer(client, sender, async_sender)


def send_settings(settings: ScriptSettings) -> SendSettings:
    """Return a script's settings in the form of the rules."""
    known = {field.name for field in fields(SendSettings)}
    given = {field.name: getattr(settings, field.name) for field in fields(settings) if field.name in known}
    given["added_retry_response_codes"] = frozenset(settings.added_retry_response_codes)
    return SendSettings(**given)


def _shared(memory: ProducerMemory) -> ClientMemory:
    client = ClientMemory(memory.dialect, known_routes(memory.dialect))
    client.producer_groups.append(_GROUP)
    return client


def _sender(
    client: ClientMemory, memory: ProducerMemory, host: VirtualHost, transport: Transport[Any, Any]
) -> Sender[Any, Any, Any, Any]:
    name_servers = NameServers((NAME_SERVER,), host, transport, memory.dialect.client.remoting, 0)
    codec = ScriptCodec()
    lists = PublishLists(memory, Routes(client, host, transport, codec, name_servers, RouteDefaults()))
    client.roles.append(lists)
    return Sender(memory, host, lists, transport, codec, AttemptRecorder(host), vip_address)
