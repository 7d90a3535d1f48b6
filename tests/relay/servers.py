"""The in-memory name server and brokers, with as much of Cluster as relays need."""

from dataclasses import dataclass

from rocketdiff.cluster.interface import Node
from rocketdiff.core.tables.topology import NodeKind
from tests.reference_impl.fake_broker import FakeCluster


@dataclass
class Servers:
    """Nodes of a fake cluster, to be cast to Cluster."""

    fake: FakeCluster

    @property
    def name_server_addresses(self) -> tuple[str, ...]:
        return (self.fake.name_server.address,)

    @property
    def name_servers(self) -> tuple[Node, ...]:
        return (Node(NodeKind.NAME_SERVER, "1", "name-server-1", self.fake.name_server.address, None),)

    @property
    def brokers(self) -> tuple[Node, ...]:
        return tuple(Node(NodeKind.BROKER, name[-1], name, it.address, None) for name, it in self.fake.brokers.items())

    @property
    def proxies(self) -> tuple[Node, ...]:
        return ()

    @property
    def grpc_endpoints(self) -> dict[str, str]:
        return {}

    @property
    def slaves(self) -> tuple[Node, ...]:
        return ()
