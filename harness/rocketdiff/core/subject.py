"""A subject is a client under test, written ``java:5.3.3``, ``python:5.3.3``, ``cpp:2.1.0`` or ``toy:drops``."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from rocketdiff.core.errors import UsageError

STANDARD = "java"
"""RocketMQ's Java client. A release without a client name means this client; rules are named after its releases."""

REFERENCE = "python"
"""The reference implementation. Its release names the rules it follows."""

GRPC_STANDARD = "grpc-java"
"""RocketMQ's Java gRPC client, the baseline for the other gRPC clients. It has no written rules."""


class ClientProtocol(StrEnum):
    """Protocol between client and cluster; it decides which scenarios and witness a client can have."""

    REMOTING = "remoting"
    GRPC = "grpc"


_FORM = re.compile(r"(?P<client>[a-z][a-z0-9-]*):(?P<release>[A-Za-z0-9][A-Za-z0-9.+-]*)")


_RELEASE = re.compile(r"[0-9][A-Za-z0-9.+-]*")


def with_client(text: str) -> str:
    """Return ``java:5.3.3`` for a bare release ``5.3.3``, and any other text unchanged."""
    return f"{STANDARD}:{text.strip()}" if _RELEASE.fullmatch(text.strip()) else text


@dataclass(frozen=True, slots=True)
class SubjectId:
    """A client and its release; for ``python`` the release whose dialect it speaks."""

    client: str
    release: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``client:release``; raise UsageError for any other form."""
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise UsageError(
                "a subject written client:release",
                seen=repr(text),
                hint="for example java:5.3.3; a build: java:patched.jar@5.3.3, java:group:artifact:version@5.3.3; a program: exec:./driver",
            )
        return cls(match["client"], match["release"])

    @property
    def rules(self) -> str | None:
        """Release whose rules the client follows; None for a client without written rules."""
        # An unpublished build, 5.3.3+1a2b3c4d, follows the rules of 5.3.3.
        return self.release.partition("+")[0] if self.client in (STANDARD, REFERENCE) else None

    def __str__(self) -> str:
        return f"{self.client}:{self.release}"
