"""How servers want to be asked: by signed requests, over TLS, by both or neither."""

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
"""Anybody may ask."""


def tls_context(
    ca: Path | None, certificate: Path | None = None, key: Path | None = None, key_password: str | None = None
) -> ssl.SSLContext:
    """
    TLS as a Java client speaks it (TlsHelper, 5.3.3): host names are not compared with those in certificates.

    ca: who must have signed a server's certificate; None: whoever (tls.client.authServer=false). certificate, key: the client's own.
    Raises OSError, of which ssl.SSLError is one, for files that cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    if ca is None:
        context.verify_mode = ssl.CERT_NONE
    else:
        context.load_verify_locations(ca)
    if certificate is not None:
        context.load_cert_chain(certificate, key, key_password or "")  # with a text nobody is asked at the terminal
    return context
