"""
Security of a cluster: the account for requests, and TLS.

Secrets stay in memory, in files of mode 600, and on a subject's stdin. They never appear in a repr, on a command
line, or in an environment, which children inherit and crash reports print.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ACL = "acl"
TLS = "tls"
"""Capabilities in a subject's hello: it signs requests; it encrypts connections."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account of a cluster with access control."""

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Tls:
    """
    PEM files, absolute paths. Host names are not verified against certificates, because no RocketMQ client does.

    ca: authority of the server's certificate; None accepts any.
    certificate, key: the client's own, key in PKCS #8.
    """

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    key_password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Security:
    """How to connect. account None: requests are unsigned. tls None: connections are plain."""

    account: Account | None = None
    tls: Tls | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        account, tls = self.account, self.tls
        found = (account.secret_key, account.security_token) if account is not None else ()
        return tuple(text for text in (*found, tls.key_password if tls is not None else None) if text)

    def setup(self) -> dict[str, dict[str, str]] | None:
        """Members of a subject's ``setup`` line; None if there are none."""
        return dict(self._parts()) or None

    def _parts(self) -> Iterator[tuple[str, dict[str, str]]]:
        for name, part in (("account", self.account), ("tls", self.tls)):
            if part is not None:
                values = {each: getattr(part, each) for each in part.__slots__}
                yield name, {each: str(value) for each, value in values.items() if value is not None}


_SECRET_MEMBERS = ("secret_key", "security_token", "key_password")

LEFT_OUT = "(left out)"


def secrets_in(setup: Mapping[str, Mapping[str, str]] | None) -> tuple[str, ...]:
    """Return the secrets of a `Security.setup`."""
    parts = (setup or {}).values()
    return tuple(part[name] for part in parts for name in _SECRET_MEMBERS if name in part)


def hidden(text: str, secrets: Iterable[str]) -> str:
    """Return the text without these secrets: raw, in JSON, in JSON quoted in JSON, and in JSON among Java properties."""
    for secret in secrets:
        in_json = _quoted(secret)
        for form in (_quoted(in_json), in_json.replace("\\", "\\\\"), in_json, secret):
            text = text.replace(form, LEFT_OUT)
    return text


def _quoted(text: str) -> str:
    return json.dumps(text)[1:-1]


OPEN = Security()
"""No signatures, no TLS."""
