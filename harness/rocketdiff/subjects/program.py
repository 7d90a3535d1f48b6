"""How the program of a client is started."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rocketdiff.core.subject import SubjectId

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
"""Environment variables that would change a client unnoticed."""


@dataclass(frozen=True, slots=True)
class Launch:
    """Command line and complete environment of one start of a subject. here: where it runs; None for the folder of its own files."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    here: Path | None = None


class SubjectProgram(Protocol):
    """One client and release, ready to be started."""

    @property
    def subject(self) -> SubjectId:
        """Client and release; hello must report the same."""
        ...

    def launch(self, folder: Path) -> Launch:
        """
        How to start it once. It writes only to stdout, stderr and below ``folder``.

        Raises EnvironmentMissing if something that it needs cannot be found or fetched.
        """
        ...


def clean_environment() -> dict[str, str]:
    """The runner's environment without variables that would change a client unnoticed."""
    return {name: value for name, value in os.environ.items() if name not in _CHANGES_A_CLIENT}
