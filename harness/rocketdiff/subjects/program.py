"""Start of a client's program: command line and environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rocketdiff.core.subject import SubjectId
from rocketdiff.process.attached import AttachPoint

_CHANGES_A_CLIENT = (
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "NAMESRV_ADDR",
    "ROCKETMQ_CLIENT_LOG_CONFIGFILE",
    "GODEBUG",
    "NODE_OPTIONS",
    "PYTHONSTARTUP",
    "PYTHONINSPECT",
    "PYTHONTRACEMALLOC",
    "PYTHONDEVMODE",
)
"""Environment variables that would silently change a client."""


@dataclass(frozen=True, slots=True)
class Launch:
    """
    Command line and complete environment of one start. here: working directory; None for the folder of its files.

    attach: where the program connects, which its author starts; it has no command then.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str]
    here: Path | None = None
    attach: AttachPoint | None = None


class SubjectProgram(Protocol):
    """One client and release, ready to be started."""

    @property
    def subject(self) -> SubjectId:
        """Client and release; hello must report the same."""
        ...

    def launch(self, folder: Path) -> Launch:
        """
        Return how to start it once; it writes only to stdout, stderr and below ``folder``.

        Raises EnvironmentMissing if something it needs cannot be found or fetched.
        """
        ...


def clean_environment() -> dict[str, str]:
    """Return the runner's environment without variables that would silently change a client."""
    return {name: value for name, value in os.environ.items() if name not in _CHANGES_A_CLIENT}
