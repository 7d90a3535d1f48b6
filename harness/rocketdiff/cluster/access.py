"""Signed and encrypted connections to servers, and the meaning of a refusal."""

import socket
import ssl
from functools import lru_cache

from rocketdiff.core.errors import ClusterError
from rocketdiff.core.security import OPEN, Security
from rocketmq_reference.host import access
from rocketmq_reference.host.access import Access, tls_context
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.errors import MQBrokerException, MQClientException, RemotingSendRequestException
from rocketmq_reference.remoting.signing import Credentials

HANDSHAKE_TIMEOUT_S = 5.0
"""A running broker answers within a few ms; a paused one never answers."""

_ACL_1_EXCEPTION = "AclException"


@lru_cache(maxsize=16)  # one per run, and one per relay
def access_of(security: Security) -> Access:
    """Return the reference client's access values for a security. Raises OSError for files that TLS cannot use."""
    if security == OPEN:
        return access.OPEN
    account, tls = security.account, security.tls
    return Access(
        None if account is None else Credentials(account.access_key, account.secret_key, account.security_token),
        None if tls is None else tls_context(tls.ca, tls.certificate, tls.key, tls.key_password),
    )


def channels_to(security: Security, connect_timeout_ms: int | None = None) -> Channels:
    """Return connections that sign and encrypt as the servers require. connect_timeout_ms: None for the client's default."""
    if connect_timeout_ms is None:
        return Channels(access_of(security))
    return Channels(access_of(security), connect_timeout_ms=connect_timeout_ms)


def is_denied(error: BaseException | None) -> bool:
    """True if access control refused the request: ACL 2 has a code for it, ACL 1 names its exception in the remark."""
    if not isinstance(error, MQBrokerException | MQClientException):
        return False
    return error.code == ResponseCode.NO_PERMISSION or (
        error.code == ResponseCode.SYSTEM_ERROR and _ACL_1_EXCEPTION in str(error)
    )


def remedy(error: BaseException, security: Security, file: str) -> str:
    """
    Return what to try after a server refused a request or closed the connection; empty if security is not the cause.

    file: the security file, if any.
    """
    if is_denied(error):
        if security.account is None:
            return "--security FILE with an account, because the brokers have access control"
        return (
            f"the account in {file}, and what it is allowed to (rights of {security.account.access_key} on the brokers)"
        )
    if isinstance(error, RemotingSendRequestException):  # the server closed the connection
        if security.tls is None:
            return "--security FILE with tls, if the servers speak TLS only"
        if security.tls.certificate is None:
            return f"certificate and key under tls in {file}, if the servers ask clients for one"
        return f"a certificate under tls in {file} that the servers trust"
    return ""


def require_tls(name: str, address: str, security: Security, file: str) -> None:
    """
    Do a TLS handshake with a server and close the connection. Does nothing without TLS, or if nothing listens there.

    Raises ClusterError for a certificate that is not trusted or has expired, and for a server that does not speak TLS.
    """
    tls = access_of(security).tls
    if tls is None:
        return
    host, _, port = address.rpartition(":")
    hint = f"see tls in {file}"
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=HANDSHAKE_TIMEOUT_S) as plain:
            try:
                tls.wrap_socket(plain).close()
            except ssl.SSLCertVerificationError as error:
                raise ClusterError(
                    f"a certificate of {name} at {address} that is valid and of an authority in {_trusted(security)}",
                    seen=error.verify_message,
                    hint=hint,
                ) from error
            except OSError as error:
                seen = getattr(error, "reason", None) or error.strerror or str(error)
                raise ClusterError(f"{name} at {address} to speak TLS", seen=str(seen), hint=hint) from error
    except OSError:
        return


def _trusted(security: Security) -> str:
    return str(security.tls.ca) if security.tls is not None else ""
