"""What a kind of client must know about itself: how it is started."""

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
    "PYTHONSTARTUP",
    "PYTHONINSPECT",
    "PYTHONTRACEMALLOC",
    "PYTHONDEVMODE",
)
"""Variables by which a user's shell would change a client behind our back."""


@dataclass(frozen=True, slots=True)
class Launch:
    """Command line and whole environment of one start of a subject."""

    command: tuple[str, ...]
    environment: Mapping[str, str]


class SubjectProgram(Protocol):
    """One client and release, ready to be started."""

    @property
    def subject(self) -> SubjectId:
        """Who it is; its hello must say the same."""
        ...

    def launch(self, folder: Path) -> Launch:
        """
        How to start it once; all it writes besides stdout and stderr goes below ``folder``.

        Raises EnvironmentMissing when something to start it with cannot be had.
        """
        ...


def clean_environment() -> dict[str, str]:
    """The runner's environment without what would change a client behind our back."""
    return {name: value for name, value in os.environ.items() if name not in _CHANGES_A_CLIENT}
