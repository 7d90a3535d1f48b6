"""Access to servers: signed requests, TLS, both or neither."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from rocketmq_reference.remoting.signing import Credentials


@dataclass(frozen=True, slots=True)
class Access:
    """credentials: None for unsigned requests. tls: None for plain connections."""

    credentials: Credentials | None = None
    tls: ssl.SSLContext | None = None


OPEN = Access()
"""No signatures and no TLS."""


def tls_context(
    ca: Path | None, certificate: Path | None = None, key: Path | None = None, key_password: str | None = None
) -> ssl.SSLContext:
    """
    Return a TLS context that behaves as the Java client's (TlsHelper, 5.3.3): host names in certificates are not checked.

    ca: authority that must have signed server certificates; None: no check (tls.client.authServer=false). certificate, key: the
    client's own. Raises OSError (including ssl.SSLError) for unusable files.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    if ca is None:
        context.verify_mode = ssl.CERT_NONE
    else:
        context.load_verify_locations(ca)
    if certificate is not None:
        context.load_cert_chain(certificate, key, key_password or "")  # even an empty text prevents a prompt
    return context
