"""Faults as asked for (FaultSpec) and as they happened (FaultRecord)."""

from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """What is done to a node of the cluster."""

    PAUSE = "pause"
    KILL = "kill"
    PAUSE_NAME_SERVER = "pause-name-server"


@dataclass(frozen=True, slots=True)
class FaultSpec:
    """One fault of a schedule; times in seconds from the first due send. A kill has no end within the case."""

    episode: int
    kind: FaultKind
    node: str
    at_s: float
    for_s: float | None


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """
    One fault as it happened, on the monotonic clock of the host, in nanoseconds.

    The fault began somewhere in [inject_ns, injected_ns] and was shown at proven_ns; it ended somewhere in
    [heal_ns, healed_ns] and that was shown at heal_proven_ns. The healing fields are None for a kill, or when the run
    ended first. ``node`` is the broker's name as clients see it, or the name server's name.
    """

    episode: int
    kind: FaultKind
    node: str
    inject_ns: int
    injected_ns: int
    proven_ns: int | None
    heal_ns: int | None = None
    healed_ns: int | None = None
    heal_proven_ns: int | None = None
