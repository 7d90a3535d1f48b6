"""The servers of one cluster that a backend starts: the interface that LaunchedCluster uses, and what backends share."""

import json
import shutil
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from rocketdiff.cluster.interface import Node, NodeState, Span
from rocketdiff.core.errors import ClusterError
from rocketdiff.core.tables.topology import NodeKind

# Part of logback's messages about its own set-up, which come before and among a server's messages.
_LOGBACK = "|-INFO in "

# A server that cannot start logs the reason, then much more during its shutdown.
SEARCHED_LINES = 100
_SHOWN_LINES = 12

_HINT = "the whole log is server.log in the node's folder"

_EVIDENCE = ("server.log", "server.properties", "hs_err.log")

_PORT_TAKEN = ("Address already in use", "BindException")


class ServerEnded(ClusterError):
    """A server ended by itself. port_taken: another program uses one of its ports, so other ports help."""

    def __init__(self, node: str, status: int | None, log: tuple[str, ...]) -> None:
        last = "\n".join(log[-_SHOWN_LINES:]) or "none"
        super().__init__(
            f"{node} to keep running", seen=f"it ended with status {status}; its last log lines:\n{last}", hint=_HINT
        )
        self.port_taken = any(sign in line for line in log for sign in _PORT_TAKEN)


class ServerSet(Protocol):
    """
    All servers of one cluster by node name. Threads may act on different nodes.

    Methods that take a node name raise UsageError for an unknown one; actions raise ClusterError.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """All nodes: name servers, masters, slaves, proxies."""
        ...

    @property
    def launched(self) -> tuple[str, ...]: ...

    def role(self, name: str) -> NodeKind: ...

    def nodes(self, role: NodeKind) -> tuple[Node, ...]: ...

    def grpc_endpoints(self) -> Mapping[str, str]: ...

    def move(self, name: str) -> Node:
        """
        Give a broker that is gone other ports, for its next launch. The old ones stay reserved, so that they refuse.

        Raises EnvironmentMissing without free ports, UsageError where servers keep their ports.
        """
        ...

    def launch(self, name: str) -> None:
        """Start a node that is gone, in its slot. Returns before it serves. Raises ClusterError if it runs already."""
        ...

    def stop(self, name: str) -> Span:
        """Pause a node; return when it is seen paused."""
        ...

    def go_on(self, name: str) -> Span:
        """Resume a node; return when it is seen running. Raises ``pause_broken`` then, if it was not paused since ``stop``."""
        ...

    def kill(self, name: str) -> Span:
        """Kill a node; return when it is gone and its ports are closed."""
        ...

    def state(self, name: str) -> NodeState:
        """GONE before the first start."""
        ...

    def raise_if_ended(self, names: Iterable[str]) -> None:
        """Raise ServerEnded for the first of these nodes that has ended."""
        ...

    def exit_status(self, name: str) -> int | None:
        """Last exit status; None while the node runs or before its first start."""
        ...

    def log_tail(self, name: str, lines: int) -> tuple[str, ...]: ...

    def require_sound(self) -> None: ...

    def unread_bytes(self, name: str) -> int | None: ...

    def facts(self) -> Mapping[str, object]:
        """For evidence."""
        ...

    def collect(self, facts: Mapping[str, object], folder: Path) -> None:
        """Copy logs and settings of every node into ``folder``, with the facts."""
        ...

    def end(self) -> None:
        """End every server, remove the stores, release the ports. Called once."""
        ...


def server_ended(servers: ServerSet, name: str) -> ServerEnded:
    """Return the error for a server that has ended, with exit status and end of log."""
    return ServerEnded(name, servers.exit_status(name), servers.log_tail(name, SEARCHED_LINES))


def last_words(log: Iterable[str], lines: int) -> tuple[str, ...]:
    """Return the last lines of a log without stack frames and logback's messages about its own set-up, which hide the reason."""
    kept = (line.rstrip("\n") for line in log if not line.startswith("\tat ") and _LOGBACK not in line)
    return tuple(deque(kept, maxlen=lines))


def copy_evidence(nodes: Iterable[tuple[str, Path]], facts: Mapping[str, object], folder: Path) -> None:
    """Copy log, settings and JVM error file from each node's folder into ``folder``/NAME; write the facts to ``nodes.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nodes.json").write_text(json.dumps(facts, indent=2) + "\n")
    for name, source in nodes:
        target = folder / name
        target.mkdir(exist_ok=True)
        for file in _EVIDENCE:
            if (source / file).is_file() and (source / file).resolve() != (target / file).resolve():
                shutil.copyfile(source / file, target / file)
