"""The parts of a client put together, as many as a depth needs."""

from dataclasses import dataclass

from harness.simulation.reference.async_sending import AsyncSender
from harness.simulation.reference.background import Background
from harness.simulation.reference.client import Client
from harness.simulation.reference.kernel import Kernel
from harness.simulation.reference.loop_transport import LoopTransport
from harness.simulation.reference.network import Network
from harness.simulation.reference.remoting import CALLBACKS, Remoting
from harness.simulation.reference.remoting_transport import RemotingTransport
from harness.simulation.reference.routes import Routes
from harness.simulation.reference.sending import Sender
from harness.simulation.reference.servers import Servers
from harness.simulation.reference.worker import Worker
from harness.simulation.script.vocabulary import ScriptSettings
from reference_impl.rules.async_rules import AsyncThread


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
