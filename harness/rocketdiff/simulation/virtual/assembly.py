"""The parts of a client put together, as many as a depth needs."""

from dataclasses import dataclass

from rocketdiff.simulation.script.vocabulary import ScriptSettings
from rocketdiff.simulation.virtual.async_sending import AsyncSender
from rocketdiff.simulation.virtual.background import Background
from rocketdiff.simulation.virtual.client import Client
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketdiff.simulation.virtual.loop_transport import LoopTransport
from rocketdiff.simulation.virtual.network import Network
from rocketdiff.simulation.virtual.remoting import CALLBACKS, Remoting
from rocketdiff.simulation.virtual.remoting_transport import RemotingTransport
from rocketdiff.simulation.virtual.routes import Routes
from rocketdiff.simulation.virtual.sending import Sender
from rocketdiff.simulation.virtual.servers import Servers
from rocketdiff.simulation.virtual.worker import Worker
from rocketmq_reference.rules.async_rules import AsyncThread


@dataclass(frozen=True, slots=True)
class Connected:
    """What only the depth "remoting" has."""

    network: Network
    remoting: Remoting
    background: Background
    async_sender: AsyncSender


@dataclass(frozen=True, slots=True)
class Producer:
    """A producer that can send."""

    routes: Routes
    sender: Sender
    connected: Connected | None = None


def producer_without_network(client: Client, kernel: Kernel, servers: Servers) -> Producer:
    """For the depths "selection" and "send-loop"."""
    transport = LoopTransport(kernel, servers)
    routes = Routes(client, kernel, transport)
    return Producer(routes, Sender(client, kernel, routes, transport))


def producer_with_network(client: Client, kernel: Kernel, servers: Servers, settings: ScriptSettings) -> Producer:
    """For the depth "remoting"; its timers begin now."""
    network = Network(kernel, servers)
    remoting = Remoting(kernel, client.dialect.remoting, network)
    transport = RemotingTransport(remoting)
    routes = Routes(client, kernel, transport)
    background = Background(client, kernel, routes, remoting)
    workers = {str(AsyncThread.CALLBACKS): remoting.workers[CALLBACKS], str(AsyncThread.OWN): Worker(kernel)}
    async_sender = AsyncSender(client, kernel, routes, transport, workers)
    background.start(settings)
    connected = Connected(network, remoting, background, async_sender)
    return Producer(routes, Sender(client, kernel, routes, transport), connected)
