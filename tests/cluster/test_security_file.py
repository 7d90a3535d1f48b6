"""The security file; no message shows a secret."""

import json
import stat
from pathlib import Path

import jsonschema
import pytest
import yaml

from rocketdiff.cluster.launched.certificates import certificates
from rocketdiff.cluster.security_file import read, write
from rocketdiff.cluster.start import backend_named
from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.core.files import private_file
from rocketdiff.core.security import Account, Security, Tls

FIXTURES = Path(__file__).parents[2] / "fixtures"
SCHEMA = FIXTURES / "schema" / "security-1.json"
SECRET = "s3cret-of-a-test"  # noqa: S105 - of a test


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a private and a world-readable secret."""
    for name, mode in (("secret", 0o600), ("shown", 0o644)):
        (tmp_path / name).write_text(f"{SECRET}\n")
        (tmp_path / name).chmod(mode)
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "security.yaml"
    path.write_text(f"format: 1\n{text}")
    return path


def test_an_account_is_read_with_its_secret(folder: Path) -> None:
    """An account is read with its secrets, without line ends."""
    asked = read(written(folder, "account: {access_key: me, secret_key_file: secret, security_token_file: secret}\n"))
    account = asked.given.account
    assert account is not None
    assert (account.access_key, account.secret_key, account.security_token) == ("me", SECRET, SECRET)
    assert asked.title == "access control"
    assert SECRET not in repr(asked)


@pytest.mark.parametrize(
    ("text", "makes", "demands", "title"),
    [
        ("account: made\ntls: made\n", (True, True, False), ("acl", "tls"), "access control and TLS"),
        ("tls: made-mutual\n", (False, True, True), ("tls",), "mutual TLS"),
    ],
)
def test_made_requests_an_account_and_certificates(
    tmp_path: Path, text: str, makes: tuple[bool, bool, bool], demands: tuple[str, ...], title: str
) -> None:
    """``made`` requests what is created for this run; ``made-mutual`` also creates client certificates."""
    asked = read(written(tmp_path, text))
    assert (asked.makes_account, asked.makes_tls, asked.is_mutual) == makes
    assert (asked.demands, asked.title) == (demands, title)


def test_a_written_security_file_can_be_read_again(tmp_path: Path) -> None:
    """A written security file can be read again; its secret has mode 600."""
    made = certificates()
    texts = {"ca.pem": made.authority, "client.pem": made.client_certificate, "client.key": made.client_key}
    ca, certificate, key = (private_file(tmp_path / "tls" / name, text) for name, text in texts.items())
    tls = Tls(ca, certificate, key)
    security = Security(Account("me", SECRET), tls)
    path = write(security, tmp_path)
    assert read(path).given == security
    assert [file.name for file in tmp_path.iterdir() if file.is_file() and SECRET in file.read_text()] == ["secret-key"]
    assert stat.S_IMODE((tmp_path / "secret-key").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expected account, tls or both"),
        ("account: {access_key: me, secret_key: s3cret-of-a-test}\n", "secret_key"),
        ("account: {access_key: me, secret_key_file: nothing}\n", "No such file"),
        ("account: {access_key: me, secret_key_file: shown}\n", "chmod 600 shown"),
        ("account: {access_key: me, secret_key_file: .}\n", "something else"),
        ("account: given\n", "one of 'made' at account"),
        ("tls: {}\n", "ca, or any_certificate: true"),
        ("tls: {ca: secret, any_certificate: true}\n", "both"),
        ("tls: {any_certificate: true, certificate: secret}\n", "certificate only"),
        ("tls: {ca: secret}\n", "files that TLS can use"),
        ("tls: {any_certificate: true, certificate: shown, key: secret}\n", "files that TLS can use"),
        ("tls: {any_certificate: true, certificate: secret, key: shown}\n", "chmod 600 shown"),
    ],
)
def test_an_unusable_security_file_is_refused_without_its_secret(folder: Path, text: str, why: str) -> None:
    """An unusable file is one usage error without its secret."""
    with pytest.raises(UsageError) as raised:
        read(written(folder, text))
    message = str(raised.value)
    assert raised.value.exit_code is ExitCode.USAGE
    assert "security.yaml" in message
    assert why in message
    assert SECRET not in message


def test_a_secret_is_one_line_of_visible_characters(folder: Path) -> None:
    """A secret must be one line of visible ASCII."""
    (folder / "secret").write_text("two\nlines\n")
    with pytest.raises(UsageError, match="one line of visible ASCII in secret"):
        read(written(folder, "account: {access_key: me, secret_key_file: secret}\n"))


@pytest.mark.parametrize(
    ("backend", "text", "message"),
    [
        ("processes", "tls: {any_certificate: true}\n", r"tls: made \(or made-mutual\)"),
        (f"external:{FIXTURES / 'examples' / 'cluster.yaml'}", "account: made\n", "saw made"),
    ],
    ids=["processes", "external"],
)
def test_security_of_another_backend_is_refused(folder: Path, backend: str, text: str, message: str) -> None:
    """Started servers get the run's certificates and refuse given ones; an external cluster needs its own account."""
    with pytest.raises(UsageError, match=message):
        backend_named(backend, security=written(folder, text))


def test_a_report_states_the_servers_security(tmp_path: Path) -> None:
    """The report states the servers' security; the repeat command names the file."""
    backend = backend_named("processes", security=written(tmp_path, "tls: made\n"))
    assert (backend.title, backend.demands) == ("processes, with TLS", ("tls",))
    assert backend.security_file == str(tmp_path / "security.yaml")


def test_the_schema_accepts_the_example_and_refuses_a_secret_in_the_file() -> None:
    """The published schema accepts the example and refuses a secret written into the file."""
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    assert validator.is_valid(yaml.safe_load((FIXTURES / "examples" / "security.yaml").read_text()))
    assert validator.is_valid({"format": 1, "tls": "made-mutual"})
    assert not validator.is_valid({"format": 1, "account": {"access_key": "me", "secret_key": "s"}})
