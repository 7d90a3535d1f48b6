"""The in-memory name server and brokers as a cluster."""

from rocketdiff.cluster.interface import Node
from rocketdiff.core.tables.topology import NodeKind
from tests.cluster import fakes
from tests.reference_impl.fake_broker import FakeCluster


class Servers(fakes.FakeCluster):
    """A cluster whose name server and brokers answer."""

    def __init__(self, fake: FakeCluster) -> None:
        super().__init__()
        self.fake = fake

    @property
    def name_servers(self) -> tuple[Node, ...]:
        return (Node(NodeKind.NAME_SERVER, "1", "name-server-1", self.fake.name_server.address, None),)

    @property
    def brokers(self) -> tuple[Node, ...]:
        return tuple(Node(NodeKind.BROKER, name[-1], name, it.address, None) for name, it in self.fake.brokers.items())
