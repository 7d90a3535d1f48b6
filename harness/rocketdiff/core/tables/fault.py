"""Faults: their kinds, as requested (FaultSpec) and as they happened (FaultRecord)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Self

from rocketdiff.core.tables.topology import NodeKind


class Means(StrEnum):
    """How a fault is injected."""

    PAUSE = "a process is stopped, and goes on later"
    KILL = "a process is ended; without an end of the fault it stays dead for the rest of the case"
    MOVE = "a process is ended, and started again at another address"
    SETTING = "a setting of a running broker is changed; its process shows nothing of it"
    RELAY = "relays between the clients and a broker; the broker itself is not affected"


class Effect(StrEnum):
    """What a send to the broker meets. Clients notice faults of slaves through the masters only."""

    NOT = "nothing that fails it, as a rule"
    ANSWER = "an answer that refuses it, on a connection that stays"
    SILENCE = "no answer for a while, on a connection that stays"
    CLOSING = "a connection that is closed or reset"


NOT_IN_SCRIPTS = "no script has a fault of that kind"
BEFORE_PROXIES = "a script has no proxies"
BEHIND_RELAYS = "a relay interferes with frames, and a script's brokers have none before them"


@dataclass(frozen=True, slots=True)
class FaultTraits:
    """
    What the harness knows about a kind of fault; ``cluster.faults`` has injection, healing and proof.

    node: kind of node that a scenario names.
    count: the ledger's name for the number of nodes hit.
    begins, ends: words in the progress line.
    during: the node's state in plots.
    sentence: for the case description; may contain ``{frames}`` and ``{delay_ms}``.
    has_delay: a scenario states a delay.
    needs_sync_flush: requires a broker that flushes before it acknowledges.
    cluster_only: why a simulated script cannot have it; empty if it can.
    """

    means: Means
    node: NodeKind
    effect: Effect
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
        """Name of the fault's phase: ``paused``, ``name server paused``."""
        return self.during if self.node is NodeKind.BROKER else f"{self.node.replace('-', ' ')} {self.during}"


def _paused(node: NodeKind, effect: Effect, count: str, cluster_only: str = "") -> FaultTraits:
    words = ("paused", "resumed", "paused", "paused")
    return FaultTraits(Means.PAUSE, node, effect, count, *words, cluster_only=cluster_only)


def _killed(node: NodeKind, effect: Effect, count: str, cluster_only: str = "") -> FaultTraits:
    words = ("killed", "restarted", "killed", "killed")
    return FaultTraits(Means.KILL, node, effect, count, *words, cluster_only=cluster_only)


class FaultKind(StrEnum):
    """
    The kinds of faults under their scenario names.

    Scenario format, reports, ledger and analysis are generated from the traits. A new kind that changes a setting
    also needs a row in ``cluster.faults.setting_faults``. A new combination of means and node, or a new parameter, needs
    its own part in ``scenario.file_format``; CONTRIBUTING.md lists the places that reason about single kinds.
    """

    traits: FaultTraits

    def __new__(cls, name: str, *traits: FaultTraits) -> Self:
        """The value is the name, so that ``FaultKind(name)`` works."""
        kind = str.__new__(cls, name)
        kind._value_ = name
        (kind.traits,) = traits
        return kind

    PAUSE = "pause", _paused(NodeKind.BROKER, Effect.SILENCE, "paused_brokers")
    KILL = "kill", _killed(NodeKind.BROKER, Effect.CLOSING, "killed_brokers")
    MOVE = (
        "move",
        FaultTraits(
            Means.MOVE,
            NodeKind.BROKER,
            Effect.CLOSING,
            "moved_brokers",
            begins="killed",
            ends="restarted on another port",
            during="killed",
            sentence="killed",
            cluster_only="",
        ),
    )
    PAUSE_NAME_SERVER = "pause-name-server", _paused(NodeKind.NAME_SERVER, Effect.NOT, "paused_name_servers")
    PAUSE_SLAVE = "pause-slave", _paused(NodeKind.SLAVE, Effect.NOT, "paused_slaves")
    KILL_SLAVE = "kill-slave", _killed(NodeKind.SLAVE, Effect.NOT, "killed_slaves")
    PAUSE_PROXY = "pause-proxy", _paused(NodeKind.PROXY, Effect.SILENCE, "paused_proxies", BEFORE_PROXIES)
    KILL_PROXY = "kill-proxy", _killed(NodeKind.PROXY, Effect.CLOSING, "killed_proxies", BEFORE_PROXIES)
    READ_ONLY = (
        "read-only",
        FaultTraits(
            Means.SETTING,
            NodeKind.BROKER,
            Effect.NOT,
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
            NodeKind.BROKER,
            Effect.ANSWER,
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
            NodeKind.BROKER,
            Effect.NOT,
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
            NodeKind.BROKER,
            Effect.SILENCE,
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
            NodeKind.BROKER,
            Effect.CLOSING,
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
            NodeKind.BROKER,
            Effect.SILENCE,
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


def _with_effect(*effects: Effect) -> frozenset[FaultKind]:
    return frozenset(kind for kind in FaultKind if kind.traits.effect in effects)


KILLS = _by(Means.KILL) | _by(Means.MOVE)
"""A kill without ``for_s`` does not end within the case."""

BROKER_KILLS = frozenset(kind for kind in KILLS if kind.traits.node is NodeKind.BROKER)
"""A broker that comes back, at its old address or (after a move) at another, may have lost connections and answers."""

PAUSES = frozenset((FaultKind.PAUSE, FaultKind.PAUSE_PROXY))
"""Pauses of the servers that clients send to: brokers and proxies."""

BY_SETTING = _by(Means.SETTING)

ON_THE_WIRE = _by(Means.RELAY)

OF_SLAVES = frozenset(kind for kind in FaultKind if kind.traits.node is NodeKind.SLAVE)
"""Clients notice these through the masters only."""

OF_PROXIES = frozenset(kind for kind in FaultKind if kind.traits.node is NodeKind.PROXY)
"""Proxies are the only servers that gRPC clients know."""

TAKE_A_SERVER = OF_PROXIES | BROKER_KILLS | {FaultKind.PAUSE}
"""Faults under which a server that clients send to answers nothing."""

NOT_MET_BY_SENDS = _with_effect(Effect.NOT)
"""Normally these fail no send; one that does fail gets a response, which shows the cause."""

COST_NO_CONNECTION = _with_effect(Effect.NOT, Effect.ANSWER)
"""Faults of slaves and name servers, or answered with an error or status."""

HOLD_ANSWERS_BACK = _with_effect(Effect.SILENCE)
"""Only a call that waits for the response takes longer."""

CLOSE_NO_CONNECTION = frozenset(FaultKind) - _with_effect(Effect.CLOSING)
"""The kernel or the relay keeps connections to a master open, or the broker only answers differently."""


class Frames(StrEnum):
    """Direction of the frames hit by a fault on the wire: to the broker, or from it."""

    REQUESTS = "requests"
    RESPONSES = "responses"


class RequestKind(StrEnum):
    """What a fault on the wire of consumers hits: requests of a kind, or their responses. Producers have one kind, sends."""

    PULL = "pull"
    SEND_BACK = "send-back"
    OFFSETS = "offsets"
    HEARTBEAT = "heartbeat"
    LOCK = "lock"


@dataclass(frozen=True, slots=True)
class WireHit:
    """Requests of consumers of a kind, or their answers. delay_ms: for which a fault delays them."""

    of: RequestKind
    frames: Frames
    delay_ms: float = 0.0

    def __str__(self) -> str:
        """``pull requests``, ``pull answers``."""
        return f"{self.of.removesuffix('s')} {'answers' if self.frames is Frames.RESPONSES else 'requests'}"


_HIT = {
    FaultKind.WIRE_DELAY: "delayed",
    FaultKind.WIRE_RESET: "answered with a reset",
    FaultKind.WIRE_SWALLOW: "swallowed",
}


@dataclass(frozen=True, slots=True)
class FaultSpec:
    """
    One fault of a schedule; times in seconds from the first due send.

    for_s: duration; None for a kill without restart.
    frames: faults on the wire only.
    delay_ms: wire-delay only.
    of: faults on the wire of consumers only.
    """

    episode: int
    kind: FaultKind
    node: str
    at_s: float
    for_s: float | None
    frames: Frames | None = None
    delay_ms: float = 0.0
    of: RequestKind | None = None

    @property
    def hit(self) -> WireHit | None:
        """What a fault on the wire of consumers hits."""
        return None if self.of is None or self.frames is None else WireHit(self.of, self.frames, self.delay_ms)


def fault_sentence(fault: FaultSpec) -> str:
    """Return a description of one fault: ``broker-b paused at 1.5 s for 1 s``."""
    what = fault.kind.traits.sentence.format(frames=fault.hit or fault.frames, delay_ms=fault.delay_ms)
    if fault.kind not in KILLS:
        end = f"for {fault.for_s:g} s"
    elif fault.for_s is None:
        end = "for good"
    else:
        end = f"and {fault.kind.traits.ends} after {fault.for_s:g} s"
    return f"{fault.node} {what} at {fault.at_s:g} s {end}"


IN_NO_TABLE = {"in_no_table": True}
"""Metadata of a field that is in a run's manifest, and in no table."""

FAULT_COUNTS = tuple(kind.traits.count for kind in FaultKind)
"""The ledger's names."""


def fault_counts(faults: Iterable[FaultSpec]) -> dict[str, int]:
    """Return the number of different nodes hit with each kind."""
    hit = {(fault.kind.traits.count, fault.node) for fault in faults}
    return {name: sum(kind == name for kind, _ in hit) for name in FAULT_COUNTS}


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """
    One fault as it happened, in nanoseconds of the host's monotonic clock.

    It began within [inject_ns, injected_ns], proven at proven_ns, and ended within [heal_ns, healed_ns], proven at
    heal_proven_ns. The heal fields are None for a kill without restart, and if the run ended first.
    node: the broker's name as clients see it, or the name of another node.
    hit: what a fault on the wire of consumers hits; a run's manifest says it, so no table does.
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
    hit: WireHit | None = field(default=None, compare=False, metadata=IN_NO_TABLE)

    @property
    def during(self) -> str:
        """The node's state in words: ``paused``, ``with pull answers swallowed``."""
        return self.kind.traits.during if self.hit is None else f"with {self.hit} {_HIT[self.kind]}"


def with_hits(faults: Iterable[FaultRecord], hits: Mapping[str, WireHit]) -> Iterator[FaultRecord]:
    """Yield the faults of a case with what those on the wire hit. hits: by episode."""
    return (replace(fault, hit=hits.get(str(fault.episode))) for fault in faults)
