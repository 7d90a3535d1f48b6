"""
How the servers of a cluster want to be asked: by which account, over TLS or not.

Secrets are in memory, in files of mode 600, and on the stdin of a subject; never in a representation, a command line, or an environment,
which children inherit and crash reports print.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ACL = "acl"
TLS = "tls"
"""Capabilities in a subject's hello: it signs requests, it encrypts connections, as its setup says."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account of a cluster with access control; token: where its servers demand one."""

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Tls:
    """
    Files for TLS, in PEM; absolute paths. Host names are not compared with those in certificates, because no RocketMQ client does.

    ca: who must have signed the certificate of a server; None: anybody. certificate, key: the client's own, key in PKCS #8.
    """

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    key_password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Security:
    """account: None: requests are not signed. tls: None: connections are plain."""

    account: Account | None = None
    tls: Tls | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """All texts that nobody may see."""
        account, tls = self.account, self.tls
        found = (account.secret_key, account.security_token) if account is not None else ()
        return tuple(text for text in (*found, tls.key_password if tls is not None else None) if text)

    def setup(self) -> dict[str, dict[str, str]] | None:
        """For the line ``setup`` of a subject; None if there is nothing to say."""
        return dict(self._parts()) or None

    def _parts(self) -> Iterator[tuple[str, dict[str, str]]]:
        for name, part in (("account", self.account), ("tls", self.tls)):
            if part is not None:
                values = {each: getattr(part, each) for each in part.__slots__}
                yield name, {each: str(value) for each, value in values.items() if value is not None}


_SECRET_MEMBERS = ("secret_key", "security_token", "key_password")

LEFT_OUT = "(left out)"


def secrets_in(setup: Mapping[str, Mapping[str, str]] | None) -> tuple[str, ...]:
    """The secrets of a subject's setup (`Security.setup`)."""
    parts = (setup or {}).values()
    return tuple(part[name] for part in parts for name in _SECRET_MEMBERS if name in part)


def hidden(text: str, secrets: Iterable[str]) -> str:
    """The text without these secrets: as they are, in JSON, in JSON that is quoted in JSON, and in JSON among Java properties."""
    for secret in secrets:
        in_json = _quoted(secret)
        for form in (_quoted(in_json), in_json.replace("\\", "\\\\"), in_json, secret):
            text = text.replace(form, LEFT_OUT)
    return text


def _quoted(text: str) -> str:
    return json.dumps(text)[1:-1]


OPEN = Security()
"""Anybody may ask, unsigned and in plain."""
