"""Account and TLS of a setup, as the reference takes them."""

from pathlib import Path
from typing import Protocol

from rocketmq_reference.host.access import Access, tls_context
from rocketmq_reference.remoting.signing import Credentials


class Secured(Protocol):
    """A setup of any role."""

    @property
    def security(self) -> dict[str, dict[str, str]] | None: ...


def access_of(setup: Secured) -> Access:
    """Return account and TLS context of the setup; raises OSError for unusable TLS files."""
    security = setup.security or {}
    account, tls = security.get("account"), security.get("tls")
    files = {name: Path(path) for name, path in (tls or {}).items() if name != "key_password"}
    return Access(
        None if account is None else Credentials(**account),
        None
        if tls is None
        else tls_context(files.get("ca"), files.get("certificate"), files.get("key"), tls.get("key_password")),
    )
