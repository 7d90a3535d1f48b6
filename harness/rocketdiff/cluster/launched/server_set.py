"""The servers of one cluster that a backend starts itself: their interface, which LaunchedCluster uses, and what backends share."""

import json
import shutil
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from rocketdiff.cluster.interface import Node, NodeState, Role, Span
from rocketdiff.core.errors import ClusterError

# In logback's messages about its own set-up, which are before and among those of a server.
_LOGBACK = "|-INFO in "

# A server that cannot start logs the reason, and then much more while it shuts down.
SEARCHED_LINES = 100
_SHOWN_LINES = 12

_HINT = "the whole log is server.log in the node's folder"

_EVIDENCE = ("server.log", "server.properties", "hs_err.log")

_PORT_TAKEN = ("Address already in use", "BindException")


class ServerEnded(ClusterError):
    """A server ended by itself. port_taken: because another program uses one of its ports, so that other ports help."""

    def __init__(self, node: str, status: int | None, log: tuple[str, ...]) -> None:
        last = "\n".join(log[-_SHOWN_LINES:]) or "nothing"
        super().__init__(
            f"{node} to live", seen=f"it ended with status {status}; the last it said:\n{last}", hint=_HINT
        )
        self.port_taken = any(sign in line for line in log for sign in _PORT_TAKEN)


class ServerSet(Protocol):
    """All servers of one cluster by node name; safe for threads that act on different nodes."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every node, name servers first, slaves last."""
        ...

    @property
    def launched(self) -> tuple[str, ...]:
        """Nodes that have been started at least once."""
        ...

    def role(self, name: str) -> Role:
        """Kind of a node; UsageError for a name that is none."""
        ...

    def nodes(self, role: Role) -> tuple[Node, ...]:
        """Nodes of a kind as they are now."""
        ...

    def grpc_endpoints(self) -> Mapping[str, str]:
        """As Cluster.grpc_endpoints."""
        ...

    def launch(self, name: str) -> None:
        """Starts a node that is gone, in its slot. It does not serve yet when this returns."""
        ...

    def stop(self, name: str) -> Span:
        """Pauses a node; returns when it is seen to be paused."""
        ...

    def go_on(self, name: str) -> Span:
        """Resumes a node; returns when it is seen to run."""
        ...

    def kill(self, name: str) -> Span:
        """Kills a node; returns when it is gone and its ports are closed."""
        ...

    def state(self, name: str) -> NodeState:
        """State of a node; GONE before its first start."""
        ...

    def raise_if_ended(self, names: Iterable[str]) -> None:
        """Raises ServerEnded for the first of these that has ended."""
        ...

    def exit_status(self, name: str) -> int | None:
        """Last exit status; None while the node lives, or before its first start."""
        ...

    def log_tail(self, name: str, lines: int) -> tuple[str, ...]:
        """Last lines of a node's log; empty if there is none."""
        ...

    def require_sound(self) -> None:
        """As Cluster.require_sound."""
        ...

    def unread_bytes(self, name: str) -> int | None:
        """As Cluster.unread_bytes."""
        ...

    def facts(self) -> Mapping[str, object]:
        """Where the servers ran, for evidence."""
        ...

    def collect(self, facts: Mapping[str, object], folder: Path) -> None:
        """Copies logs and settings of every node into ``folder``, with the facts."""
        ...

    def end(self) -> None:
        """Ends every server, removes the stores, releases the ports. Called once."""
        ...


def server_ended(servers: ServerSet, name: str) -> ServerEnded:
    """The error for a server that has ended, with its exit status and the end of its log."""
    return ServerEnded(name, servers.exit_status(name), servers.log_tail(name, SEARCHED_LINES))


def last_words(log: Iterable[str], lines: int) -> tuple[str, ...]:
    """Last lines of a log without stack frames and logback's messages about its own set-up, which hide the reason."""
    kept = (line.rstrip("\n") for line in log if not line.startswith("\tat ") and _LOGBACK not in line)
    return tuple(deque(kept, maxlen=lines))


def copy_evidence(nodes: Iterable[tuple[str, Path]], facts: Mapping[str, object], folder: Path) -> None:
    """Copies log, settings and JVM error file from each node's folder into ``folder``/NAME, and writes the facts to ``nodes.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nodes.json").write_text(json.dumps(facts, indent=2) + "\n")
    for name, source in nodes:
        target = folder / name
        target.mkdir(exist_ok=True)
        for file in _EVIDENCE:
            if (source / file).is_file() and (source / file).resolve() != (target / file).resolve():
                shutil.copyfile(source / file, target / file)
