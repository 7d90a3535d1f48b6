"""What the backends that start clusters of our own answer alike."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocketdiff.core.errors import UsageError
from rocketdiff.core.fault import FaultSpec
from rocketdiff.core.run_options import DEFAULT_RELEASE
from rocketdiff.core.topology import Topology


@dataclass(frozen=True, slots=True)
class OwnServers:
    """Servers of one release that are started for a run and gone after it; see Backend for what each answer means."""

    server_release: str = DEFAULT_RELEASE

    @property
    def name(self) -> str:
        """The common case; a backend that can be written in several ways says which."""
        return "processes"

    @property
    def title(self) -> str:
        """Its name holds no path."""
        return self.name

    @property
    def is_shared(self) -> bool:
        """Nobody else uses them."""
        return False

    @property
    def topic_prefix(self) -> str:
        """As LaunchedCluster's."""
        return "rocketdiff"

    def refused(self, scenario: str, reason: str) -> UsageError:
        """The backend is what cannot run it."""
        return UsageError(f"scenarios that --cluster {self.name} can run", seen=scenario, hint=reason)

    def brokers(self, topology: Topology) -> tuple[str, ...]:
        """The names that we give."""
        return topology.broker_names

    def named(self, _topology: Topology, faults: Sequence[FaultSpec]) -> tuple[FaultSpec, ...]:
        """A scenario's names are ours."""
        return tuple(faults)

    def introduction(self) -> Iterator[str]:
        """Only what is started."""
        yield f"clusters of RocketMQ {self.server_release} would be started, one for each topology"

    def planned_commands(self, _fault: FaultSpec) -> tuple[str, ...]:
        """Nobody's: signals and the engine's own calls."""
        return ()

    def ending(self) -> str:
        """Nothing is left."""
        return "in the end: everything that was started is stopped"
