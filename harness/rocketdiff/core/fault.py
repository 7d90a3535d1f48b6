"""Faults as asked for (FaultSpec) and as they happened (FaultRecord)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """What is done to a node of the cluster, or (WIRE_…) by the relays between the clients and a broker."""

    PAUSE = "pause"
    KILL = "kill"
    PAUSE_NAME_SERVER = "pause-name-server"
    PAUSE_SLAVE = "pause-slave"
    KILL_SLAVE = "kill-slave"
    READ_ONLY = "read-only"
    FLOW_CONTROL = "flow-control"
    FLUSH_TIMEOUT = "flush-timeout"
    WIRE_DELAY = "wire-delay"
    WIRE_RESET = "wire-reset"
    WIRE_SWALLOW = "wire-swallow"


KILLS = frozenset({FaultKind.KILL, FaultKind.KILL_SLAVE})
"""Done to a process; one without an end has none within the case."""

OF_SLAVES = frozenset({FaultKind.PAUSE_SLAVE, FaultKind.KILL_SLAVE})
"""Clients do not speak to slaves: they feel these through their masters only."""

BY_SETTING = frozenset({FaultKind.READ_ONLY, FaultKind.FLOW_CONTROL, FaultKind.FLUSH_TIMEOUT})
"""Done to a running broker's settings: its process tells nothing of them."""

NOT_MET_BY_SENDS = frozenset({FaultKind.PAUSE_NAME_SERVER, FaultKind.READ_ONLY, FaultKind.FLUSH_TIMEOUT, *OF_SLAVES})
"""No send is failed by these as a rule; those that are meet an answer, which shows itself."""

ON_THE_WIRE = frozenset({FaultKind.WIRE_DELAY, FaultKind.WIRE_RESET, FaultKind.WIRE_SWALLOW})
"""Done by relays: the broker itself is well, and knows nothing of it."""


class Frames(StrEnum):
    """Which frames a fault on the wire is about: to the broker, or from it."""

    REQUESTS = "requests"
    RESPONSES = "responses"


@dataclass(frozen=True, slots=True)
class FaultSpec:
    """
    One fault of a schedule; times in seconds from the first due send. A kill has no end within the case.

    frames, and delay_ms of a delay: of faults on the wire only.
    """

    episode: int
    kind: FaultKind
    node: str
    at_s: float
    for_s: float | None
    frames: Frames | None = None
    delay_ms: float = 0.0


_COUNTED = {
    FaultKind.PAUSE: "paused_brokers",
    FaultKind.KILL: "killed_brokers",
    FaultKind.PAUSE_NAME_SERVER: "paused_name_servers",
    FaultKind.PAUSE_SLAVE: "paused_slaves",
    FaultKind.KILL_SLAVE: "killed_slaves",
    FaultKind.READ_ONLY: "read_only_brokers",
    FaultKind.FLOW_CONTROL: "flow_controlled_brokers",
    FaultKind.FLUSH_TIMEOUT: "unflushed_brokers",
    FaultKind.WIRE_DELAY: "delayed_brokers",
    FaultKind.WIRE_RESET: "reset_brokers",
    FaultKind.WIRE_SWALLOW: "swallowed_brokers",
}
FAULT_COUNTS = tuple(_COUNTED.values())


def fault_counts(faults: Iterable[FaultSpec]) -> dict[str, int]:
    """How many different nodes a schedule hits in each way, by the names of FAULT_COUNTS."""
    hit = {(_COUNTED[fault.kind], fault.node) for fault in faults}
    return {name: sum(kind == name for kind, _ in hit) for name in FAULT_COUNTS}


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
