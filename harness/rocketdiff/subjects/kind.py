"""A kind of client: what the harness knows before hello."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from rocketdiff.core.demand import Demand, SendDemand
from rocketdiff.core.security import ACL, TLS
from rocketdiff.core.subject import ClientProtocol, SubjectId
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.subjects.program import SubjectProgram


class LabHost(StrEnum):
    """How a client is executed in virtual time."""

    CLASSES = "the classes of the release, in a JVM whose time is rewritten"
    RULES = "the rules of the reference"


def _nothing(_release: str, _progress: ProgressListener | None) -> None:
    """Fetch nothing."""


def _no_checksums(_release: str) -> dict[str, str]:
    """Return none: the client is part of rocketdiff and versioned with it."""
    return {}


def _every_send(_release: str, _demand: SendDemand) -> bool:
    return True


Offers = Mapping[ClientRole, Callable[[str, Any], bool]]
"""By role, whether a release has what a demand of that role asks for; a client cannot act in a role that is missing."""

EVERY_SEND: Offers = {ClientRole.PRODUCER: _every_send}


def _open_only(_release: str) -> Collection[str]:
    return ()


def every_security(_release: str) -> Collection[str]:
    """Return both security capabilities: signing and TLS."""
    return (ACL, TLS)


@dataclass(frozen=True, slots=True)
class Kind:
    """
    One client, defined in its own file in ``kinds``.

    name: the part of a subject before the colon. program: neither starts nor fetches; raises UsageError for an unknown
    release. fetch: downloads or compiles what a start needs. offers: as known before hello. lab_host: None if the client cannot run in virtual time.
    attempt_timeout_ms: as in hello, if the client ignores ``send_msg_timeout_ms``. security: ``core.security.ACL`` and ``TLS``
    as far as supported. checksums: sha256 of the files of a release, by name.
    """

    name: str
    releases: Callable[[], tuple[str, ...]]
    program: Callable[[SubjectId], SubjectProgram]
    fetch: Callable[[str, ProgressListener | None], None] = _nothing
    offers: Offers = field(default_factory=lambda: EVERY_SEND)
    lab_host: LabHost | None = None
    attempt_timeout_ms: int | None = None
    security: Callable[[str], Collection[str]] = _open_only
    protocol: ClientProtocol = ClientProtocol.REMOTING
    checksums: Callable[[str], dict[str, str]] = _no_checksums

    def has(self, release: str, demand: Demand) -> bool:
        """True if a release of this client offers what is demanded, as far as is known before its hello."""
        offers = self.offers.get(demand.role)
        return offers is not None and offers(release, demand)
