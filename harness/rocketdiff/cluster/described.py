"""Somebody's cluster as its owner described it: checked, typed, and nothing of YAML left."""

import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rocketdiff.cluster.interface import Role


class Verb(StrEnum):
    """What an owner may have given a command for."""

    PAUSE = "pause"
    RESUME = "resume"
    KILL = "kill"
    RESTART = "restart"
    STATE = "state"


UNDOES = {Verb.PAUSE: Verb.RESUME, Verb.KILL: Verb.RESTART}
"""An act and the one that ends it: nobody is given the first without the second."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program and its arguments; a line for a shell is the arguments of a shell."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, given: str | list[str]) -> "Command":
        """From what stands in the file: one text is a line for ``sh -c``, a list is taken as it is."""
        return cls(("/bin/sh", "-c", given) if isinstance(given, str) else tuple(given))

    @property
    def shown(self) -> str:
        """As a person would type it."""
        if self.words[:2] == ("/bin/sh", "-c") and len(self.words) == 3:
            return self.words[2]
        return shlex.join(self.words)


@dataclass(frozen=True, slots=True)
class DescribedNode:
    """
    A node and what may be done to it.

    letter: ``a`` for a broker, ``1`` for a name server. name: brokerName, or ``name-server-1``. address: of a name server;
    empty for a broker, whose address the name servers tell.
    """

    role: Role
    letter: str
    name: str
    address: str
    commands: dict[Verb, Command]

    def lacks(self, act: Verb) -> str | None:
        """What is missing to do this to it, None when nothing is."""
        return None if act in self.commands else f"no {act} command of {self.name}"

    @property
    def witness(self) -> str:
        """Who says whether it is paused, in words for records."""
        return "state command and probe" if Verb.STATE in self.commands else "probe alone"


@dataclass(frozen=True, slots=True)
class DescribedCluster:
    """
    One cluster file.

    origin: the file as the user named it; folder: in which commands run, the file's own. server_release: None when the
    brokers are to be asked.
    """

    name: str
    origin: str
    folder: Path
    topic_prefix: str
    name_servers: tuple[DescribedNode, ...]
    brokers: tuple[DescribedNode, ...]
    server_release: str | None
    command_timeout_s: float

    @property
    def name_server_addresses(self) -> tuple[str, ...]:
        """Of every name server that the file names."""
        return tuple(node.address for node in self.name_servers)
