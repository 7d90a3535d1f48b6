"""Capabilities claimed in hello, of any role: which are known, and which records may be written."""

from collections.abc import Collection

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.records.consuming import PROPERTY
from rocketdiff.core.records.received import ROLE_CLAIMS
from rocketdiff.core.records.session import Hello
from rocketdiff.core.security import ACL, TLS
from rocketdiff.core.subject import ClientProtocol

SETTING = "setting:"
"""Prefix of a claim for a setting that not every release of the client has."""


def unknown_claims(claims: Collection[str]) -> tuple[str, ...]:
    """Return claims unknown to this protocol version (newer or misspelt), in their order."""
    known = {ACL, TLS, ClientProtocol.GRPC}.union(*ROLE_CLAIMS.values())
    return tuple(claim for claim in claims if claim not in known and not claim.startswith((SETTING, PROPERTY)))


def require_claim(hello: Hello | None, claim: str, what: str) -> None:
    """Raise SubjectBroken for a kind of record that hello does not claim, because the relay reports it instead."""
    if hello is None or claim not in hello.capabilities:
        expected = f"{claim} among the capabilities of hello, before the first such record"
        raise SubjectBroken("protocol.not-claimed", expected=expected, seen=what)
