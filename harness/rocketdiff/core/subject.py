"""A subject is a client under test, written ``java:5.3.3``, ``python:5.3.3``, ``cpp:2.1.0`` or ``toy:drops``."""

import re
from dataclasses import dataclass
from typing import Self

from rocketdiff.core.errors import UsageError

STANDARD = "java"
"""RocketMQ's Java client. A release without a client name is a release of it, and rules are named after its releases."""

REFERENCE = "python"
"""The reference implementation; its release names the rules that it follows."""

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
        """Release whose rules the client follows; None for a client without written rules."""
        return self.release if self.client in (STANDARD, REFERENCE) else None

    def __str__(self) -> str:
        return f"{self.client}:{self.release}"
