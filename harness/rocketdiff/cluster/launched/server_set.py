"""What a backend that starts its own servers must be able to do with each of them; ``launched`` makes a cluster of it."""

from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from rocketdiff.cluster.interface import Node, NodeState, Role, Span
from rocketdiff.core.errors import ClusterError

# What logback says about its own set-up, before and among what a server says.
_LOGBACK = "|-INFO in "

# A server that cannot start says why, then ends in order and says a good deal more.
LOOKED_AT_LINES = 100
_SHOWN_LINES = 12

_HINT = "the whole log is server.log in the node's folder"

_PORT_TAKEN = ("Address already in use", "BindException")


class ServerEnded(ClusterError):
    """A server ended by itself; ``port_taken`` tells the one cause that another choice of ports cures."""

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

    def launch(self, name: str) -> None:
        """Start a node that is gone, at its place; it does not serve yet when this returns."""
        ...

    def stop(self, name: str) -> Span:
        """Freeze a node; returns when it is seen to be frozen."""
        ...

    def go_on(self, name: str) -> Span:
        """Let a frozen node go on; returns when it is seen to run."""
        ...

    def kill(self, name: str) -> Span:
        """End a node without notice; returns when it is gone and its ports are closed."""
        ...

    def state(self, name: str) -> NodeState:
        """What a node is doing; GONE before it is launched as well."""
        ...

    def raise_if_ended(self, names: Iterable[str]) -> None:
        """Raise ServerEnded for the first of these that has ended."""
        ...

    def exit_status(self, name: str) -> int | None:
        """How a node ended last, None while it lives."""
        ...

    def log_tail(self, name: str, lines: int) -> tuple[str, ...]:
        """Last lines of a node's log, empty where there is none."""
        ...

    def require_sound(self) -> None:
        """As Cluster.require_sound."""
        ...

    def unread_bytes(self, name: str) -> int | None:
        """As Cluster.unread_bytes."""
        ...

    def facts(self) -> Mapping[str, object]:
        """What whoever reads the evidence should know of where the servers ran."""
        ...

    def collect(self, facts: Mapping[str, object], folder: Path) -> None:
        """Copy logs and settings of every node into ``folder``, with the facts."""
        ...

    def end(self) -> None:
        """End every server, remove the stores, give the ports back; called once."""
        ...


def last_words(log: Iterable[str], lines: int) -> tuple[str, ...]:
    """Last lines of a log without stack frames and what logback says about its own set-up, which hide what matters."""
    said = (line.rstrip("\n") for line in log if not line.startswith("\tat ") and _LOGBACK not in line)
    return tuple(deque(said, maxlen=lines))
