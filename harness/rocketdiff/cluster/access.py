"""How requests and connections of ours are made where servers want them signed or encrypted, and what a refusal means."""

import socket
import ssl
from functools import lru_cache

from rocketdiff.core.errors import ClusterError
from rocketdiff.core.security import OPEN, Security
from rocketmq_reference.connections import access
from rocketmq_reference.connections.access import Access, tls_context
from rocketmq_reference.connections.channels import Channels
from rocketmq_reference.remoting.codes import ResponseCode
from rocketmq_reference.remoting.errors import MQBrokerException, MQClientException, RemotingSendRequestException
from rocketmq_reference.remoting.signing import Credentials

HANDSHAKE_TIMEOUT_S = 5.0
"""A broker answers within some ms; a paused one never."""

_ACL_1_EXCEPTION = "AclException"


@lru_cache(maxsize=16)  # of a run there is one, and one of each relay
def access_of(security: Security) -> Access:
    """OSError for files that TLS cannot use."""
    if security == OPEN:
        return access.OPEN
    account, tls = security.account, security.tls
    return Access(
        None if account is None else Credentials(account.access_key, account.secret_key, account.security_token),
        None if tls is None else tls_context(tls.ca, tls.certificate, tls.key, tls.key_password),
    )


def channels_to(security: Security, connect_timeout_ms: int | None = None) -> Channels:
    """Connections to servers that want that; connect_timeout_ms: None for a client's own."""
    if connect_timeout_ms is None:
        return Channels(access_of(security))
    return Channels(access_of(security), connect_timeout_ms=connect_timeout_ms)


def is_denied(error: BaseException | None) -> bool:
    """Whether a broker refused a request by access control: ACL 2 has a code for it, ACL 1 names its exception in the remark."""
    if not isinstance(error, MQBrokerException | MQClientException):
        return False
    return error.code == ResponseCode.NO_PERMISSION or (
        error.code == ResponseCode.SYSTEM_ERROR and _ACL_1_EXCEPTION in str(error)
    )


def remedy(error: BaseException, security: Security, file: str) -> str:
    """What to try where a server refused a request or hung up; empty where access is not the matter. file: the security file, if any."""
    if is_denied(error):
        if security.account is None:
            return "--security FILE with an account, because the brokers have access control"
        return (
            f"the account in {file}, and what it is allowed to (rights of {security.account.access_key} on the brokers)"
        )
    if isinstance(error, RemotingSendRequestException):  # it hung up
        if security.tls is None:
            return "--security FILE with tls, if the servers speak TLS only"
        if security.tls.certificate is None:
            return f"certificate and key under tls in {file}, if the servers ask clients for one"
        return f"a certificate under tls in {file} that the servers trust"
    return ""


def require_tls(name: str, address: str, security: Security, file: str) -> None:
    """
    Shakes hands with a server and goes; does nothing without TLS, or where nobody listens, which its first request tells.

    Raises ClusterError for a certificate that is not trusted or has expired, and for a server that speaks no TLS.
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
