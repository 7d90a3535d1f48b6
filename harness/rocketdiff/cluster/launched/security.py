"""
Access control and TLS of the servers that we start: their settings, files and flags, and what their clients need.

ACL 1 (plain_acl.yml) is that of 4.x, ACL 2 (authentication and authorization) that of 5.3 and later. All files with secrets are
in a server's folder ``conf``, with mode 600, and are removed with its store; settings and logs that are kept have no secrets.
"""

import json
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path, PurePath

from rocketdiff.cluster.launched.certificates import Certificates, certificates
from rocketdiff.cluster.security_file import SecurityAsked
from rocketdiff.cluster.server_settings import logging_settings, properties_text
from rocketdiff.core.errors import UsageError
from rocketdiff.core.files import private_file
from rocketdiff.core.security import OPEN, Account, Security, Tls, hidden
from rocketdiff.core.tables.topology import Topology

_AUTHORITY_FILE = "authority.pem"

_CLIENTS_FOLDER = "clients"

_KEY_BYTES = 16

_AUTH = "org.apache.rocketmq.auth"


@dataclass(frozen=True, slots=True)
class ServerSecurity:
    """
    The security of one cluster's servers. client: what their clients need. certificates: None without TLS.

    The account is a super user: the client-visible part is the authentication of every request and the look-up of its rights.
    """

    client: Security = OPEN
    certificates: Certificates | None = None
    is_acl_1: bool = False

    @property
    def is_mutual(self) -> bool:
        return self.client.tls is not None and self.client.tls.certificate is not None

    @property
    def is_open(self) -> bool:
        return self.client == OPEN

    def broker_settings(self) -> dict[str, object]:
        """With secrets."""
        account = self.client.account
        if account is None:
            return {}
        if self.is_acl_1:
            return {"aclEnable": "true"}
        user = {"username": account.access_key, "password": account.secret_key}
        # Brokers sign their requests to each other with the same account.
        inner = {"accessKey": account.access_key, "secretKey": account.secret_key}
        return {
            "authenticationEnabled": "true",
            "authenticationProvider": f"{_AUTH}.authentication.provider.DefaultAuthenticationProvider",
            "authenticationMetadataProvider": f"{_AUTH}.authentication.provider.LocalAuthenticationMetadataProvider",
            "initAuthenticationUser": json.dumps(user),
            "innerClientAuthenticationCredentials": json.dumps(inner),
            "authorizationEnabled": "true",
            "authorizationProvider": f"{_AUTH}.authorization.provider.DefaultAuthorizationProvider",
            "authorizationMetadataProvider": f"{_AUTH}.authorization.provider.LocalAuthorizationMetadataProvider",
        }

    def files(self, home: PurePath) -> dict[str, str]:
        """Texts of a server's files by path in its home folder."""
        return {f"conf/{name}": text for name, text in {**self._acl_files(), **self._tls_files(home)}.items()}

    def flags(self, home: PurePath) -> tuple[str, ...]:
        """Flags of a server's JVM. They follow all others, because the last one takes effect."""
        if self.certificates is None:
            return ()
        return (
            "-Dtls.server.mode=enforcing",
            "-Dtls.enable=true",
            "-Dtls.test.mode.enable=false",
            f"-Dtls.config.file={home / 'conf' / 'tls.properties'}",
        )

    def hand_out(self) -> None:
        """Write the client files; the servers need not be up. Raises OSError."""
        made, tls = self.certificates, self.client.tls
        if made is None or tls is None:
            return
        texts = ((tls.ca, made.authority), (tls.certificate, made.client_certificate), (tls.key, made.client_key))
        for path, text in texts:
            if path is not None:
                private_file(path, text)

    def take_back(self) -> None:
        for folder in self.scratch:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def scratch(self) -> tuple[Path, ...]:
        """The folder of the client files."""
        tls = self.client.tls
        return () if tls is None or tls.ca is None else (tls.ca.parent,)

    def hidden(self, text: str) -> str:
        return hidden(text, self.client.secrets)

    def logging(self) -> str:
        """Log settings that replace secrets: a broker of 4.9.7 logs its plain_acl.yml."""
        return logging_settings(self.client.secrets)

    def _acl_files(self) -> dict[str, str]:
        account = self.client.account
        if account is None or not self.is_acl_1:
            return {}
        known = {"accessKey": account.access_key, "secretKey": account.secret_key, "admin": True}
        return {"plain_acl.yml": json.dumps({"accounts": [known]}) + "\n"}  # JSON is YAML

    def _tls_files(self, home: PurePath) -> dict[str, str]:
        made = self.certificates
        if made is None:
            return {}
        conf = home / "conf"
        settings: dict[str, object] = {
            "tls.server.certPath": conf / "server.pem",
            "tls.server.keyPath": conf / "server.key",
            # for connections between servers
            "tls.client.authServer": "true",
            "tls.client.trustCertPath": conf / _AUTHORITY_FILE,
        }
        files = {"server.pem": made.certificate, "server.key": made.key, _AUTHORITY_FILE: made.authority}
        if self.is_mutual:
            settings |= {
                "tls.server.need.client.auth": "require",
                "tls.server.authClient": "true",
                "tls.server.trustCertPath": conf / _AUTHORITY_FILE,
                "tls.client.certPath": conf / "client.pem",
                "tls.client.keyPath": conf / "client.key",
            }
            files |= {"client.pem": made.client_certificate, "client.key": made.client_key}
        return {"tls.properties": properties_text(settings), **files}


UNSECURED = ServerSecurity()


def server_security(asked: SecurityAsked | None, release: str, folder: Path) -> ServerSecurity:
    """
    Return the security of a release's servers. folder: the cluster's; client files will be in a subfolder.

    Raises EnvironmentMissing if the JDK cannot make certificates.
    """
    if asked is None:
        return UNSECURED
    account = asked.given.account
    if asked.makes_account:
        account = Account(f"rocketdiff{secrets.token_hex(4)}", secrets.token_hex(_KEY_BYTES))
    made = certificates() if asked.makes_tls else None
    tls = None
    if made is not None:
        clients = folder.resolve() / _CLIENTS_FOLDER
        own = (clients / "client.pem", clients / "client.key") if asked.is_mutual else ()
        tls = Tls(clients / _AUTHORITY_FILE, *own)
    return ServerSecurity(Security(account, tls), made, release.startswith("4."))


def require_possible(asked: SecurityAsked | None) -> SecurityAsked | None:
    """Raise UsageError for a security file that servers of ours cannot use."""
    if asked is not None and asked.given.tls is not None:
        raise UsageError(
            f"tls: made (or made-mutual) in {asked.origin}, because servers that are started get certificates made for the run",
            seen="files",
            hint="the files are for --cluster external:FILE",
        )
    return asked


def why_not(asked: SecurityAsked | None, release: str, topology: Topology) -> str | None:
    """Return what servers of a release lack for a topology; None if they support it."""
    if asked is not None and asked.has_account and release.startswith("4.") and topology.slaves_per_master:
        return f"slaves of {release} do not sign their requests to a master with access control; leave account out, or use 5.x"
    return None
