"""The part of Backend that is the same for all backends that start servers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocketdiff.cluster.security_file import SecurityAsked
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.fault import FaultSpec
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE
from rocketdiff.core.tables.topology import Topology


@dataclass(frozen=True, slots=True)
class LaunchedServers:
    """Servers of one release that exist only during a run; methods as in Backend."""

    server_release: str = DEFAULT_RELEASE
    asked: SecurityAsked | None = None

    @property
    def name(self) -> str:
        return "processes"

    @property
    def title(self) -> str:
        return self.name if self.asked is None else f"{self.name}, with {self.asked.title}"

    @property
    def security_file(self) -> str | None:
        return None if self.asked is None else self.asked.origin

    @property
    def demands(self) -> tuple[str, ...]:
        return () if self.asked is None else self.asked.demands

    @property
    def is_shared(self) -> bool:
        return False

    @property
    def topic_prefix(self) -> str:
        return "rocketdiff"

    def refused(self, scenario: str, reason: str) -> UsageError:
        return UsageError(f"scenarios that --cluster {self.name} can run", seen=scenario, hint=reason)

    def brokers(self, topology: Topology) -> tuple[str, ...]:
        return topology.broker_names

    def named(self, _topology: Topology, faults: Sequence[FaultSpec]) -> tuple[FaultSpec, ...]:
        """Unchanged: scenarios use the same names."""
        return tuple(faults)

    def introduction(self) -> Iterator[str]:
        secured = "" if self.asked is None else f" with {self.asked.title}"
        yield f"clusters of RocketMQ {self.server_release}{secured} would be started, one for each topology"

    def planned_commands(self, _fault: FaultSpec) -> tuple[str, ...]:
        """Empty: faults are signals and calls of the engine."""
        return ()

    def ending(self) -> str:
        return "in the end: everything that was started is stopped"
