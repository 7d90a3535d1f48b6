"""
Signed requests for brokers with access control (AclClientRPCHook and AclSigner, 4.4.0 to 5.5.0).

The same for ACL 1 (plain_acl.yml, up to 5.2) and ACL 2 (from 5.3): the header has the account, and the HMAC-SHA1 of all its
values in the order of their names, followed by the body. The request number is not signed.
"""

import base64
import hashlib
import hmac
from dataclasses import dataclass, field, replace

from rocketmq_reference.remoting.frames import Command

ACCESS_KEY = "AccessKey"
SECURITY_TOKEN = "SecurityToken"  # noqa: S105 - the name of a header field
SIGNATURE = "Signature"


@dataclass(frozen=True, slots=True)
class Credentials:
    """An account of a cluster (SessionCredentials); repr shows only its access key."""

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)


def signed(command: Command, credentials: Credentials) -> Command:
    """Return the command with account and signature in its header."""
    fields = dict(command.ext_fields) | {ACCESS_KEY: credentials.access_key}
    if credentials.security_token is not None:
        fields[SECURITY_TOKEN] = credentials.security_token
    content = "".join(fields[name] for name in sorted(fields) if name != SIGNATURE).encode() + command.body
    code = hmac.new(credentials.secret_key.encode(), content, hashlib.sha1).digest()
    return replace(command, ext_fields=fields | {SIGNATURE: base64.b64encode(code).decode()})
