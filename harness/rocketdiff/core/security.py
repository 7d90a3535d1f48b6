"""
Security of a cluster: the account for requests, and TLS.

Secrets stay in memory, in files of mode 600, and on a subject's stdin. They never appear in a repr, on a command
line, or in an environment, which children inherit and crash reports print.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
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

_MOST_BACKSLASHES = 16
"""A quotation in a quotation in a quotation in a quotation; a bound, because a program may print a line of backslashes."""


def secrets_in(setup: Mapping[str, Mapping[str, str]] | None) -> tuple[str, ...]:
    """Return the secrets of a `Security.setup`."""
    parts = (setup or {}).values()
    return tuple(part[name] for part in parts for name in _SECRET_MEMBERS if name in part)


def hidden(text: str, secrets: Iterable[str]) -> str:
    """Return the text without these secrets, however often JSON or Java properties have escaped them; idempotent."""
    pattern = _pattern(tuple(secrets))
    return text if pattern is None else pattern.sub(LEFT_OUT, text)


def hidden_bytes(content: bytes, secrets: Iterable[str]) -> bytes:
    """Return the content of a file or line of any encoding that contains ASCII, without these secrets."""
    return hidden(content.decode(errors="surrogateescape"), secrets).encode(errors="surrogateescape")


@lru_cache(maxsize=64)
def _pattern(secrets: tuple[str, ...]) -> re.Pattern[str] | None:
    """The longest first, in one pass: a short secret may be a part of another, or of ``LEFT_OUT``."""
    longest_first = sorted(filter(None, secrets), key=len, reverse=True)
    forms = [re.sub(r"(\\*)([^\\]?)", _escaped, secret) for secret in longest_first]
    return re.compile("|".join((re.escape(LEFT_OUT), *forms))) if forms else None


def _escaped(part: re.Match[str]) -> str:
    r"""``c`` is written ``c``, ``\c`` or ``\u0063``; each further quotation doubles the backslashes."""
    before, character = len(part[1]), part[2]
    if not part[0]:
        return ""
    some = rf"\\{{{before},{(before + 1) * _MOST_BACKSLASHES}}}+"
    return some + (rf"(?:{re.escape(character)}|(?<=\\)u(?i:{ord(character):04x}))" if character else "")


OPEN = Security()
"""No signatures, no TLS."""
