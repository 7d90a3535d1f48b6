"""A kind of client: all that the rest of the harness knows of a client before it has said hello, in one value a client."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum

from rocketdiff.core.plan import SendKind, SendMode
from rocketdiff.core.subject import SubjectId
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.subjects.program import SubjectProgram


class LabHost(StrEnum):
    """What answers for a client in virtual time."""

    CLASSES = "the classes of the release, in a JVM whose time is rewritten"
    RULES = "the rules of the reference"


def _nothing(_release: str, _progress: ProgressListener | None) -> None:
    """Nothing has to be fetched."""


def _every_call(_release: str, _kind: SendKind, _mode: SendMode, _queue_counts: Collection[int]) -> bool:
    """The client has every call, as far as is known."""
    return True


@dataclass(frozen=True, slots=True)
class Kind:
    """
    One client; its file in ``kinds`` makes it.

    name: before the colon of a subject. releases: those that can be named. program: of a subject, without starting or fetching
    anything; UsageError for a release there is not. fetch: everything that starting a release needs and that may have to be
    downloaded or compiled. has_call: whether a release has a kind of send in a mode, as far as is known before its hello, for
    topics of so many queues (a selector that cannot be made to choose among them is none). lab_host: None for a client that
    does not run in virtual time.
    """

    name: str
    releases: Callable[[], tuple[str, ...]]
    program: Callable[[SubjectId], SubjectProgram]
    fetch: Callable[[str, ProgressListener | None], None] = _nothing
    has_call: Callable[[str, SendKind, SendMode, Collection[int]], bool] = _every_call
    lab_host: LabHost | None = None

    def rules_of(self, release: str) -> str | None:
        """Release whose rules it follows; None where nobody has written them down, so that it cannot be a baseline."""
        return SubjectId(self.name, release).rules
