"""A subject that can be started: what was typed, which client and release it is, and what it can do."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.subject import ClientProtocol, SubjectId
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.subjects.claims import is_offered
from rocketdiff.subjects.kind import Kind
from rocketdiff.subjects.own.own_program import OwnProgram
from rocketdiff.subjects.program import SubjectProgram


@dataclass(frozen=True, slots=True)
class Subject:
    """
    One subject of a run.

    spec: what ``--subject`` was given, which names it again. id: client and release; every hello must report the same.
    kind: of a client that comes with rocketdiff; None for a program of the user's. capabilities: of the hello of a user's program,
    which says what it can be asked; empty for a shipped client, of which the kind knows that. attempt_timeout_ms: how long one of its
    attempts may last, if it does not obey ``send_msg_timeout_ms``. label: what the user calls it in reports. ledger: declared divergences
    of it, that its file names. rules_given: the release by whose rules a program is judged when it is the baseline.
    """

    id: SubjectId
    spec: str
    program: SubjectProgram
    kind: Kind | None
    capabilities: frozenset[str] = frozenset()
    attempt_timeout_ms: int | None = None
    label: str = ""
    ledger: Path | None = None
    rules_given: str | None = None

    @property
    def rules(self) -> str | None:
        """The release whose rules hold when it is the baseline; None for a client without any."""
        return self.rules_given or self.id.rules

    def fetch(self, progress: ProgressListener | None) -> None:
        """Downloads or compiles what a start needs; raises EnvironmentMissing."""
        if self.kind is not None:
            self.kind.fetch(self.id.release, progress)

    @property
    def protocol(self) -> ClientProtocol:
        """What it speaks; a user's program that speaks gRPC says so among its capabilities."""
        if self.kind is not None:
            return self.kind.protocol
        return ClientProtocol.GRPC if ClientProtocol.GRPC in self.capabilities else ClientProtocol.REMOTING

    def offers(self, kind: SendKind, mode: SendMode = SendMode.SYNC, queue_counts: Collection[int] = ()) -> bool:
        """Whether it has this kind of send in this mode; the last argument has the numbers of queues."""
        if self.kind is not None:
            return self.kind.has_call(self.id.release, kind, mode, queue_counts)
        return is_offered(self.capabilities, kind, mode)

    def lacks(self, demands: Collection[str]) -> tuple[str, ...]:
        """What servers demand (``core.security``) and it cannot do."""
        can = self.kind.security(self.id.release) if self.kind is not None else self.capabilities
        return tuple(demand for demand in demands if demand not in can)

    def checksums(self) -> dict[str, str]:
        """The sha256 of the jars or of the executable that will run, by file name."""
        if self.kind is not None:
            return self.kind.checksums(self.id.release)
        return self.program.command.checksums() if isinstance(self.program, OwnProgram) else {}

    def __str__(self) -> str:
        return str(self.id)
