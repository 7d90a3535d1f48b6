"""
The security file, version 1: its format, its JSON Schema, and the reader.

Rules on two fields are not in the schema. The file only names files with one secret each, and error messages show no secret, so
it can be shared.
"""

import stat
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field

from rocketdiff.cluster.access import access_of
from rocketdiff.core.files import private_file
from rocketdiff.core.security import ACL, OPEN, TLS, Account, Security, Tls
from rocketdiff.documents.part import Part, published_schema
from rocketdiff.documents.refusal import Place, Words, read_part, refused
from rocketdiff.documents.yaml_source import Location, parse_yaml, read_text

FORM = "--security security.yaml"
FORMAT = 1
MADE = "made"
"""Account or certificates that a run makes for the servers it starts."""
MADE_MUTUAL = "made-mutual"
"""As MADE, for TLS whose servers require client certificates; the run makes those too."""

_OTHERS = stat.S_IRWXG | stat.S_IRWXO

AccessKey = Annotated[str, Field(pattern=r"^[!-~]{1,256}$", description="name of the account, visible ASCII")]
PathText = Annotated[str, Field(min_length=1, description="of a file, relative to the folder of this one")]

_SECRET_BYTES = 4_096
"""Longer than any key that a server accepts."""


class AccountPart(Part):
    """An account of a cluster with access control. Each secret is a line of visible ASCII in a file of its own."""

    access_key: AccessKey
    secret_key_file: PathText
    security_token_file: PathText | None = None


class TlsPart(Part):
    """PEM files for TLS: the authority of the server certificates; the client's certificate and key if servers require them."""

    ca: PathText | None = None
    any_certificate: Annotated[
        bool, Field(description="instead of ca: accept any certificate (RocketMQ's default)")
    ] = False
    certificate: PathText | None = None
    key: PathText | None = None
    key_password_file: PathText | None = None


class SecurityFile(Part):
    """
    Access control and TLS of a cluster.

    ``made``: by the run, for servers that it starts. ``made-mutual``: also client certificates.
    """

    format: Literal[1]
    account: Literal["made"] | AccountPart | None = None
    tls: Literal["made", "made-mutual"] | TlsPart | None = None


WORDS = Words(
    fields={"format": f"format: {FORMAT}", "access_key": "1 to 256 visible ASCII characters"}
    | dict.fromkeys(
        ("ca", "certificate", "key", "secret_key_file", "security_token_file", "key_password_file"), "a path"
    ),
    unions={
        "account": "made, or access_key and secret_key_file",
        "tls": "made, made-mutual, or ca, certificate and key",
    },
)


@dataclass(frozen=True, slots=True)
class SecurityAsked:
    """
    A security file as read.

    origin: path as the user wrote it. given: its values. makes_account, makes_tls: whether a run makes the account or the
    certificates. is_mutual: whether the servers that a run starts require client certificates.
    """

    origin: str
    given: Security
    makes_account: bool = False
    makes_tls: bool = False
    is_mutual: bool = False

    @property
    def has_account(self) -> bool:
        return self.makes_account or self.given.account is not None

    @property
    def has_tls(self) -> bool:
        return self.makes_tls or self.given.tls is not None

    @property
    def demands(self) -> tuple[str, ...]:
        return (ACL,) * self.has_account + (TLS,) * self.has_tls

    @property
    def title(self) -> str:
        tls = "mutual TLS" if self.is_mutual else "TLS"
        return " and ".join(["access control"] * self.has_account + [tls] * self.has_tls)


def schema() -> bytes:
    """JSON Schema of this version of the security file."""
    return published_schema(SecurityFile, f"security:{FORMAT}").encode()


def read(path: Path) -> SecurityAsked:
    """
    Read and check a security file and the files that it names.

    Raises UsageError with the file, the line and what was expected there.
    """
    source = parse_yaml(read_text(path, "security file", hint=FORM), str(path))
    data, place = source.data, source.place
    version = data.get("format") if isinstance(data, dict) else None
    if version != FORMAT or isinstance(version, bool):
        hint = "this rocketdiff reads no other version of the security file"
        raise refused(place, ("format",), expected=f"format: {FORMAT}", seen="another, or none", hint=hint)
    return _Reader(path.resolve().parent, place).asked(str(path), read_part(SecurityFile, data, place, WORDS))


@cache
def security_in(path: str) -> Security:
    """Return the security in a file that an undo log names; OPEN for an empty path. Raises UsageError."""
    return read(Path(path)).given if path else OPEN


def write(security: Security, folder: Path) -> Path:
    """Write a security file, with secrets in files beside it, for clients of a cluster that we started. Raises OSError."""
    account, tls = security.account, security.tls
    parts: dict[str, dict[str, str]] = {}
    if account is not None:
        secret = private_file(folder / "secret-key", f"{account.secret_key}\n")
        parts["account"] = {"access_key": account.access_key, "secret_key_file": secret.name}
    if tls is not None:
        files = {"ca": tls.ca, "certificate": tls.certificate, "key": tls.key}
        parts["tls"] = {name: str(path) for name, path in files.items() if path is not None}
    path = folder / "security.yaml"
    path.write_text(yaml.safe_dump({"format": FORMAT, **parts}, sort_keys=False))
    return path


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the files that a security file names."""

    folder: Path
    place: Place

    def asked(self, origin: str, file: SecurityFile) -> SecurityAsked:
        if file.account is None and file.tls is None:
            raise refused(self.place, (), expected="account, tls or both", seen="neither", hint="leave --security out")
        account = self._account(file.account) if isinstance(file.account, AccountPart) else None
        tls = self._tls(file.tls) if isinstance(file.tls, TlsPart) else None
        is_mutual = file.tls == MADE_MUTUAL
        return SecurityAsked(
            origin, Security(account, tls), file.account == MADE, is_mutual or file.tls == MADE, is_mutual
        )

    def _account(self, part: AccountPart) -> Account:
        secret = self._secret(part.secret_key_file, ("account", "secret_key_file"))
        token = part.security_token_file
        return Account(
            part.access_key,
            secret,
            None if token is None else self._secret(token, ("account", "security_token_file")),
        )

    def _tls(self, part: TlsPart) -> Tls:
        if (part.ca is None) is not part.any_certificate:
            seen = "both" if part.any_certificate else "neither"
            raise refused(self.place, ("tls",), expected="ca, or any_certificate: true", seen=seen)
        if (part.certificate is None) is not (part.key is None):
            seen = "certificate only" if part.key is None else "key only"
            raise refused(self.place, ("tls",), expected="certificate and key together", seen=seen)
        password = part.key_password_file
        tls = Tls(
            self._path(part.ca, ("tls", "ca")),
            self._path(part.certificate, ("tls", "certificate")),
            self._path(part.key, ("tls", "key"), is_private=True),
            None if password is None else self._secret(password, ("tls", "key_password_file")),
        )
        try:
            access_of(Security(tls=tls))
        except (OSError, ValueError) as problem:
            why = getattr(problem, "reason", None) or type(problem).__name__
            hint = "PEM files; a key of PKCS #8 (BEGIN PRIVATE KEY), and key_password_file if it is encrypted"
            raise refused(
                self.place, ("tls",), expected="files that TLS can use", seen=str(why), hint=hint
            ) from problem
        return tls

    def _path(self, text: str | None, location: Location, *, is_private: bool = False) -> Path | None:
        if text is None:
            return None
        path = self.folder / text
        try:
            mode = path.stat().st_mode
        except OSError as problem:
            seen = problem.strerror or str(problem)
            raise refused(self.place, location, expected=f"a file {text}", seen=seen) from problem
        if not stat.S_ISREG(mode):
            raise refused(self.place, location, expected=f"a file {text}", seen="something else")
        if is_private and mode & _OTHERS:
            seen = f"mode {stat.S_IMODE(mode):03o}"
            raise refused(
                self.place, location, expected=f"{text} to be its owner's alone", seen=seen, hint=f"chmod 600 {text}"
            )
        return path

    def _secret(self, text: str, location: Location) -> str:
        path = self._path(text, location, is_private=True)
        assert path is not None
        try:
            with path.open("rb") as file:
                secret = file.read(_SECRET_BYTES).rstrip(b"\r\n").decode("ascii")
        except (OSError, ValueError):
            secret = ""
        if not secret or not all("!" <= character <= "~" for character in secret):
            raise refused(self.place, location, expected=f"one line of visible ASCII in {text}", seen="something else")
        return secret
