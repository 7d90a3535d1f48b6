"""Access control and TLS settings of started servers."""

import stat
from pathlib import Path, PurePath

from rocketdiff.cluster.launched.certificates import Certificates
from rocketdiff.cluster.launched.node_slot import NodeSlot, keep_settings, prepare
from rocketdiff.cluster.launched.ports import BROKER_PORTS, reserve_free
from rocketdiff.cluster.launched.security import ServerSecurity, server_security, why_not
from rocketdiff.cluster.security_file import SecurityAsked
from rocketdiff.cluster.server_settings import logging_settings
from rocketdiff.core.security import OPEN, Account, Security
from rocketdiff.core.tables.topology import NodeKind, topology_named

ONE = topology_named("one-master")
SECRET = "0123456789abcdef"  # noqa: S105 - of a test
ACCOUNT = Security(Account("me", SECRET))
MADE = SecurityAsked("security.yaml", OPEN, makes_account=True)


def test_a_broker_of_4_x_reads_its_accounts_from_a_file() -> None:
    """A 4.x broker (ACL 1) reads accounts from plain_acl.yml, as JSON, which is YAML."""
    security = ServerSecurity(ACCOUNT, is_acl_1=True)
    assert security.broker_settings() == {"aclEnable": "true"}
    account = f'{{"accounts": [{{"accessKey": "me", "secretKey": "{SECRET}", "admin": true}}]}}\n'
    assert security.files(PurePath("/home")) == {"conf/plain_acl.yml": account}


def test_a_broker_of_5_x_authenticates_and_authorizes() -> None:
    """A 5.x broker (ACL 2) authenticates, authorizes, and signs its own requests by the account."""
    settings = ServerSecurity(ACCOUNT).broker_settings()
    assert (settings["authenticationEnabled"], settings["authorizationEnabled"]) == ("true", "true")
    assert settings["initAuthenticationUser"] == f'{{"username": "me", "password": "{SECRET}"}}'
    assert settings["innerClientAuthenticationCredentials"] == f'{{"accessKey": "me", "secretKey": "{SECRET}"}}'


def test_only_files_that_end_with_the_server_have_secrets(tmp_path: Path) -> None:
    """Only files removed at the end have secrets, with mode 600; kept settings omit them."""
    slot = NodeSlot(NodeKind.BROKER, "a", "broker-a", reserve_free(BROKER_PORTS), tmp_path / "broker-a")
    security = ServerSecurity(ACCOUNT, Certificates("authority", "server", "key"))
    try:
        prepare(slot, ONE, ["127.0.0.1:9876"], security)
    finally:
        slot.reserved.release()
    with_secret = {path for path in tmp_path.rglob("*") if path.is_file() and SECRET in path.read_text()}
    assert with_secret == {slot.secret_settings, *(slot.folder / "conf").glob("logback*.xml")}
    assert all(slot.folder / "conf" in path.parents for path in with_secret)
    assert slot.folder / "conf" in slot.scratch
    assert {stat.S_IMODE(path.stat().st_mode) for path in (slot.folder / "conf").iterdir()} == {0o600}
    assert 'initAuthenticationUser={"username": "me", "password": "(left out)"}' in slot.settings.read_text()
    slot.secret_settings.write_text(f"password={SECRET}\nlater=1\n")
    keep_settings(slot, security)
    assert slot.settings.read_text() == "password=(left out)\nlater=1\n"


def test_servers_ask_for_the_certificates_that_were_made_for_clients(tmp_path: Path) -> None:
    """With mutual TLS servers require client certificates; clients' copies have mode 600 and are removed."""
    security = server_security(SecurityAsked("security.yaml", OPEN, makes_tls=True, is_mutual=True), "5.3.3", tmp_path)
    files = security.files(PurePath("/home"))
    assert "tls.server.need.client.auth=require\n" in files["conf/tls.properties"]
    assert "tls.client.keyPath=/home/conf/client.key\n" in files["conf/tls.properties"]
    assert "PRIVATE KEY" in files["conf/client.key"]
    tls = security.client.tls
    assert tls is not None
    assert tls.key is not None
    security.hand_out()
    assert tls.key.read_text() == files["conf/client.key"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in tls.key.parent.iterdir()} == {0o600}
    security.take_back()
    assert list(tmp_path.iterdir()) == []


def test_made_tls_creates_no_client_certificate(tmp_path: Path) -> None:
    """With ``tls: made`` no client certificate is created."""
    security = server_security(SecurityAsked("security.yaml", OPEN, makes_tls=True), "5.3.3", tmp_path)
    assert not any("client.key" in text + name for name, text in security.files(PurePath("/home")).items())
    security.hand_out()
    assert [path.name for path in tmp_path.rglob("*.*")] == ["authority.pem"]


def test_a_log_leaves_secrets_out() -> None:
    """Logs replace secrets; special characters match anything, so rather too much is replaced."""
    assert "%replace(%m %ex){'ab.c|tok','...'}%nopex%n" in logging_settings(("ab$c", "tok"))
    assert "replace" not in logging_settings()


def test_an_account_is_made_anew_for_every_cluster(tmp_path: Path) -> None:
    """Every cluster gets a new random account."""
    first, second = (server_security(MADE, "5.3.3", tmp_path).client.account for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.access_key != second.access_key
    assert len(first.secret_key) == 32


def test_slaves_of_4_x_sign_nothing() -> None:
    """With access control 4.x slaves are refused, because they do not sign."""
    slaves = topology_named("master-with-slave-sync")
    assert "do not sign" in (why_not(MADE, "4.9.7", slaves) or "")
    assert why_not(MADE, "5.3.3", slaves) is None
    assert why_not(None, "4.9.7", slaves) is None
