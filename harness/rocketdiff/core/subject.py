"""A subject is a client under test, written ``java:5.3.3``, ``python:5.3.3``, ``cpp:2.1.0`` or ``toy:drops``."""

import re
from dataclasses import dataclass
from typing import Self

from rocketdiff.core.errors import UsageError

STANDARD = "java"
"""RocketMQ's own client, against which others are measured: a bare release is one of it, and rules are named by its releases."""

REFERENCE = "python"
"""Our reference implementation; its release is the one whose rules it follows."""

_FORM = re.compile(r"(?P<client>[a-z][a-z0-9-]*):(?P<release>[A-Za-z0-9][A-Za-z0-9.+-]*)")


@dataclass(frozen=True, slots=True)
class SubjectId:
    """Which client, and which release of it (for ``python`` the release whose dialect it speaks)."""

    client: str
    release: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """
        Read ``client:release``.

        Raises UsageError for anything else.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise UsageError(
                "a subject written client:release",
                seen=repr(text),
                hint="for example java:5.3.3 or python:5.3.3",
            )
        return cls(match["client"], match["release"])

    @property
    def rules(self) -> str | None:
        """Release whose rules the client is known to follow; None for a client whose rules nobody has written down."""
        return self.release if self.client in (STANDARD, REFERENCE) else None

    def __str__(self) -> str:
        return f"{self.client}:{self.release}"
