"""A kind of client: everything that the harness knows about a client before its hello."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum

from rocketdiff.core.plan import SendKind, SendMode
from rocketdiff.core.subject import SubjectId
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.subjects.program import SubjectProgram


class LabHost(StrEnum):
    """What executes a client in virtual time."""

    CLASSES = "the classes of the release, in a JVM whose time is rewritten"
    RULES = "the rules of the reference"


def _nothing(_release: str, _progress: ProgressListener | None) -> None:
    """Needs nothing."""


def _every_call(_release: str, _kind: SendKind, _mode: SendMode, _queue_counts: Collection[int]) -> bool:
    """Has every call."""
    return True


@dataclass(frozen=True, slots=True)
class Kind:
    """
    One client; defined in its own file in ``kinds``.

    name: the part of a subject before the colon. releases: all known releases. program: starts nothing and fetches nothing; raises
    UsageError for an unknown release. fetch: downloads or compiles what a start of the release needs. has_call: whether a release
    has a kind of send in a mode, as far as known before its hello; the last argument has the numbers of queues, because a selector
    that cannot choose among so many does not count. lab_host: None if the client cannot run in virtual time.
    """

    name: str
    releases: Callable[[], tuple[str, ...]]
    program: Callable[[SubjectId], SubjectProgram]
    fetch: Callable[[str, ProgressListener | None], None] = _nothing
    has_call: Callable[[str, SendKind, SendMode, Collection[int]], bool] = _every_call
    lab_host: LabHost | None = None

    def rules_of(self, release: str) -> str | None:
        """Release whose rules it follows; None for a client without written rules, which cannot be a baseline."""
        return SubjectId(self.name, release).rules
