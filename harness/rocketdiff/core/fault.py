"""Faults: their kinds in one table, as asked for (FaultSpec), and as they happened (FaultRecord)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from rocketdiff.core.topology import Role


class Means(StrEnum):
    """What does a fault."""

    PAUSE = "a process is stopped, and goes on later"
    KILL = "a process is ended; without an end of the fault it stays dead for the rest of the case"
    SETTING = "a setting of a running broker is changed; its process shows nothing of it"
    RELAY = "relays between the clients and a broker; the broker is well and knows nothing of it"


class Felt(StrEnum):
    """What a send to the broker meets while a fault lasts; clients feel faults of slaves through their masters only."""

    NOT = "nothing that fails it, as a rule"
    ANSWER = "an answer that refuses it, on a connection that stays"
    SILENCE = "no answer for a while, on a connection that stays"
    CLOSING = "a connection that is closed or reset"


NOT_IN_SCRIPTS = "no script has a fault of that kind"
BEHIND_RELAYS = "a relay interferes with frames, and a script's brokers have none before them"


@dataclass(frozen=True, slots=True)
class FaultTraits:
    """
    All that is general about a kind of fault; how it is done and proven is in ``cluster.faults``.

    role: the kind of node that a scenario names. count: the ledger's name for how many nodes a case hits so. begins, ends: what was
    done to the node, in a line while the run goes on. during: what the node is meanwhile, in pictures. sentence: what is done to it, in
    a case's description; ``{frames}`` and ``{delay_ms}`` are the fault's own. has_delay: a scenario says how long frames are kept.
    needs_sync_flush: only a broker that waits for its disk can have it. cluster_only: why a simulated script cannot have it; empty where
    it can.
    """

    means: Means
    role: Role
    felt: Felt
    count: str
    begins: str
    ends: str
    during: str
    sentence: str
    has_delay: bool = False
    needs_sync_flush: bool = False
    cluster_only: str = NOT_IN_SCRIPTS

    @property
    def phase(self) -> str:
        """What the case's cluster is meanwhile: ``paused``, ``name server paused``."""
        return self.during if self.role is Role.BROKER else f"{self.role.replace('-', ' ')} {self.during}"


def _paused(role: Role, felt: Felt, count: str) -> FaultTraits:
    return FaultTraits(Means.PAUSE, role, felt, count, "paused", "resumed", "paused", "paused", cluster_only="")


def _killed(role: Role, felt: Felt, count: str) -> FaultTraits:
    return FaultTraits(Means.KILL, role, felt, count, "killed", "restarted", "killed", "killed", cluster_only="")


class FaultKind(StrEnum):
    """
    The kinds of faults, by the names that scenarios use, each with its traits.

    A kind that pauses or kills a process needs a row here and nothing else; one of a setting a row in ``cluster.faults.setting_faults``
    too. The scenario format, reports, the ledger and the analysis go by the traits.
    """

    traits: FaultTraits

    def __new__(cls, name: str, *traits: FaultTraits) -> Self:
        """One value, so that a kind is found by its name alone, and one set of traits."""
        kind = str.__new__(cls, name)
        kind._value_ = name
        (kind.traits,) = traits
        return kind

    PAUSE = "pause", _paused(Role.BROKER, Felt.SILENCE, "paused_brokers")
    KILL = "kill", _killed(Role.BROKER, Felt.CLOSING, "killed_brokers")
    PAUSE_NAME_SERVER = "pause-name-server", _paused(Role.NAME_SERVER, Felt.NOT, "paused_name_servers")
    PAUSE_SLAVE = "pause-slave", _paused(Role.SLAVE, Felt.NOT, "paused_slaves")
    KILL_SLAVE = "kill-slave", _killed(Role.SLAVE, Felt.NOT, "killed_slaves")
    READ_ONLY = (
        "read-only",
        FaultTraits(
            Means.SETTING,
            Role.BROKER,
            Felt.NOT,
            "read_only_brokers",
            begins="made read-only",
            ends="writable again",
            during="read-only",
            sentence="made read-only",
            cluster_only="",
        ),
    )
    FLOW_CONTROL = (
        "flow-control",
        FaultTraits(
            Means.SETTING,
            Role.BROKER,
            Felt.ANSWER,
            "flow_controlled_brokers",
            begins="made busy",
            ends="storing again",
            during="busy",
            sentence="made to answer SYSTEM_BUSY",
            cluster_only="",
        ),
    )
    FLUSH_TIMEOUT = (
        "flush-timeout",
        FaultTraits(
            Means.SETTING,
            Role.BROKER,
            Felt.NOT,
            "unflushed_brokers",
            begins="given no time to flush",
            ends="flushing in time again",
            during="not flushing in time",
            sentence="given no time to flush",
            needs_sync_flush=True,
            cluster_only="",
        ),
    )
    WIRE_DELAY = (
        "wire-delay",
        FaultTraits(
            Means.RELAY,
            Role.BROKER,
            Felt.SILENCE,
            "delayed_brokers",
            begins="delayed on the wire",
            ends="passed on at once again",
            during="delayed",
            sentence="kept behind relays that delay {frames} by {delay_ms:g} ms",
            has_delay=True,
            cluster_only=BEHIND_RELAYS,
        ),
    )
    WIRE_RESET = (
        "wire-reset",
        FaultTraits(
            Means.RELAY,
            Role.BROKER,
            Felt.CLOSING,
            "reset_brokers",
            begins="reset on the wire",
            ends="left alone again",
            during="reset",
            sentence="kept behind relays that reset connections at {frames}",
            cluster_only=BEHIND_RELAYS,
        ),
    )
    WIRE_SWALLOW = (
        "wire-swallow",
        FaultTraits(
            Means.RELAY,
            Role.BROKER,
            Felt.SILENCE,
            "swallowed_brokers",
            begins="swallowed on the wire",
            ends="passed on again",
            during="cut off",
            sentence="kept behind relays that swallow {frames}",
            cluster_only=BEHIND_RELAYS,
        ),
    )


def _by(means: Means) -> frozenset[FaultKind]:
    return frozenset(kind for kind in FaultKind if kind.traits.means is means)


def _felt(*felt: Felt) -> frozenset[FaultKind]:
    return frozenset(kind for kind in FaultKind if kind.traits.felt in felt)


KILLS = _by(Means.KILL)
"""One without an end has none within the case."""

BY_SETTING = _by(Means.SETTING)

ON_THE_WIRE = _by(Means.RELAY)

OF_SLAVES = frozenset(kind for kind in FaultKind if kind.traits.role is Role.SLAVE)
"""Clients do not speak to slaves: they feel these through their masters only."""

NOT_MET_BY_SENDS = _felt(Felt.NOT)
"""No send is failed by these as a rule; those that are meet an answer, which shows itself."""

COST_NO_CONNECTION = _felt(Felt.NOT, Felt.ANSWER)
"""Slaves, name servers, and what is answered with an error or a status."""

HOLD_ANSWERS_BACK = _felt(Felt.SILENCE)
"""A client that waits for an answer waits long, and one that does not is as quick as ever."""

CLOSE_NO_CONNECTION = frozenset(FaultKind) - _felt(Felt.CLOSING)
"""The kernel, or the relay, goes on holding connections to a master; or the broker only answers otherwise."""


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


def fault_sentence(fault: FaultSpec) -> str:
    """One fault for people: ``broker-b paused at 1.5 s for 1 s``."""
    what = fault.kind.traits.sentence.format(frames=fault.frames, delay_ms=fault.delay_ms)
    if fault.kind not in KILLS:
        end = f"for {fault.for_s:g} s"
    elif fault.for_s is None:
        end = "for good"
    else:
        end = f"and restarted after {fault.for_s:g} s"
    return f"{fault.node} {what} at {fault.at_s:g} s {end}"


FAULT_COUNTS = tuple(kind.traits.count for kind in FaultKind)
"""In how many ways a schedule hits nodes, under the ledger's names."""


def fault_counts(faults: Iterable[FaultSpec]) -> dict[str, int]:
    """How many different nodes a schedule hits in each way, by the names of FAULT_COUNTS."""
    hit = {(fault.kind.traits.count, fault.node) for fault in faults}
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
