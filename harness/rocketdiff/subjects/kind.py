"""A kind of client: everything that the harness knows about a client before its hello."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum

from rocketdiff.core.security import ACL, TLS
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.subject import ClientProtocol, SubjectId
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.subjects.program import SubjectProgram


class LabHost(StrEnum):
    """What executes a client in virtual time."""

    CLASSES = "the classes of the release, in a JVM whose time is rewritten"
    RULES = "the rules of the reference"


def _nothing(_release: str, _progress: ProgressListener | None) -> None:
    """Needs nothing."""


def _no_checksums(_release: str) -> dict[str, str]:
    """Is part of rocketdiff, whose version says it."""
    return {}


def _every_call(_release: str, _kind: SendKind, _mode: SendMode, _queue_counts: Collection[int]) -> bool:
    """Has every call."""
    return True


def _open_only(_release: str) -> Collection[str]:
    """Neither signs nor encrypts."""
    return ()


def every_security(_release: str) -> Collection[str]:
    """Signs and encrypts."""
    return (ACL, TLS)


@dataclass(frozen=True, slots=True)
class Kind:
    """
    One client; defined in its own file in ``kinds``.

    name: the part of a subject before the colon. releases: all known releases. program: starts nothing and fetches nothing; raises
    UsageError for an unknown release. fetch: downloads or compiles what a start of the release needs. has_call: whether a release
    has a kind of send in a mode, as far as known before its hello; the last argument has the numbers of queues, because a selector
    may not support each number. lab_host: None if the client cannot run in virtual time. attempt_timeout_ms: what its hello says, if it
    does not obey ``send_msg_timeout_ms``. security: which of ``core.security.ACL`` and ``TLS`` a release can. protocol: of all its releases.
    checksums: sha256 of the files that a release consists of, by their names.
    """

    name: str
    releases: Callable[[], tuple[str, ...]]
    program: Callable[[SubjectId], SubjectProgram]
    fetch: Callable[[str, ProgressListener | None], None] = _nothing
    has_call: Callable[[str, SendKind, SendMode, Collection[int]], bool] = _every_call
    lab_host: LabHost | None = None
    attempt_timeout_ms: int | None = None
    security: Callable[[str], Collection[str]] = _open_only
    protocol: ClientProtocol = ClientProtocol.REMOTING
    checksums: Callable[[str], dict[str, str]] = _no_checksums
