"""A startable subject: its spec, client, release and capabilities."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocketdiff.core.demand import Demand, GroupDemand
from rocketdiff.core.subject import ClientProtocol, SubjectId
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.subjects.consuming.claims import unclaimed_of_group
from rocketdiff.subjects.kind import Kind
from rocketdiff.subjects.own.own_program import AttachedProgram, OwnProgram
from rocketdiff.subjects.program import SubjectProgram
from rocketdiff.subjects.sending.claims import unclaimed_of_send

UNCLAIMED: Mapping[ClientRole, Callable[[Collection[str], Any], tuple[str, ...]]] = {
    ClientRole.PRODUCER: unclaimed_of_send,
    ClientRole.CONSUMER: unclaimed_of_group,
}
"""What is demanded and the capabilities of a hello lack."""


@dataclass(frozen=True, slots=True)
class Subject:
    """
    One subject of a run.

    id: every hello must report the same. spec: the text of ``--subject``; resolves to this subject again. kind: None for a
    user's program. capabilities, roles: from the hello of a user's program; a bundled client's kind has them.
    attempt_timeout_ms: longest attempt of a client that ignores ``send_msg_timeout_ms``. label: the user's name for it in
    reports. ledger: declared divergences named by its subject file. rules_given: release whose rules apply to a program as
    baseline.
    """

    id: SubjectId
    spec: str
    program: SubjectProgram
    kind: Kind | None
    capabilities: frozenset[str] = frozenset()
    roles: tuple[str, ...] = (ClientRole.PRODUCER,)
    attempt_timeout_ms: int | None = None
    label: str = ""
    ledger: Path | None = None
    rules_given: str | None = None

    @property
    def rules(self) -> str | None:
        """Release whose rules apply when it is the baseline; None for a client without rules."""
        return self.rules_given or self.id.rules

    def fetch(self, progress: ProgressListener | None) -> None:
        """Download or compile what a start needs; raises EnvironmentMissing."""
        if self.kind is not None:
            self.kind.fetch(self.id.release, progress)

    @property
    def protocol(self) -> ClientProtocol:
        """Remoting or gRPC; a user's program claims gRPC among its capabilities."""
        if self.kind is not None:
            return self.kind.protocol
        return ClientProtocol.GRPC if ClientProtocol.GRPC in self.capabilities else ClientProtocol.REMOTING

    @property
    def is_attached(self) -> bool:
        """True if its author starts it, may hold it at a breakpoint, and no limit applies."""
        return isinstance(self.program, AttachedProgram)

    def acts_as(self, role: ClientRole) -> bool:
        """True if it has the role, with whatever claims."""
        return role in self.roles if self.kind is None else role in self.kind.offers

    def offers(self, demand: Demand) -> bool:
        """True if it has what is demanded; a program of the user has what its hello claims."""
        if self.kind is not None:
            return self.kind.has(self.id.release, demand)
        return not self.why_not(demand)

    def why_not(self, demand: Demand) -> str:
        """Return which role, claim of a program's hello, or ability of a client is missing, as a sentence; empty if none is known to be."""
        if self.kind is not None:
            if demand.role not in self.kind.offers:
                return f"{self} is no {demand.role}: its driver is a {', '.join(self.kind.offers)} only"
            parts = list(demand.parts()) if isinstance(demand, GroupDemand) else []
            lacking = [name for name, part in parts if not self.kind.has(self.id.release, part)]
            if lacking and len(lacking) == len(parts):
                return f"{self} is no {demand.role}"
            return f"{self} has no {', '.join(lacking)}" if lacking else ""
        if demand.role not in self.roles:
            return f"{self} is no {demand.role}, as hello has the roles {', '.join(self.roles)}"
        missing = UNCLAIMED[demand.role](self.capabilities, demand)
        return f"hello of {self} does not claim {', '.join(missing)}" if missing else ""

    def lacks(self, demands: Collection[str]) -> tuple[str, ...]:
        """Return the servers' demands (``core.security``) that it does not support."""
        can = self.kind.security(self.id.release) if self.kind is not None else self.capabilities
        return tuple(demand for demand in demands if demand not in can)

    def checksums(self) -> dict[str, str]:
        """Return the sha256 of the jars or the executable, by file name."""
        if self.kind is not None:
            return self.kind.checksums(self.id.release)
        return self.program.command.checksums() if isinstance(self.program, OwnProgram) else {}

    def __str__(self) -> str:
        return str(self.id)
