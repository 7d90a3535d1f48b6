"""
What a fault may do to a group, by its kind and, on the wire, by the requests that it hits: which run out, where connections close.

A request without an answer runs out. If its caller waits for it, the client then closes the connection (NettyRemotingClient.invokeSync);
a pull is asynchronous, and only ends. A reset closes the connection at once, for the requests of every kind on it. The broker drops a
member whose connection is closed, and tells the others, until its next heartbeat.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocketdiff.core.tables.fault import FaultKind, FaultRecord, Frames, Means, RequestKind, WireHit
from rocketdiff.core.tables.topology import NodeKind
from rocketdiff.core.units import NS_PER_MS, NS_PER_S
from rocketdiff.oracle.consumer.finishing import BOTH_WAYS_NS
from rocketdiff.oracle.consumer.windows import (
    ASKED_NS,
    MARGIN_NS,
    OFFSET_ASKED_NS,
    PULL_TIMEOUT_NS,
    PULL_TIMEOUT_SCAN_NS,
    REGISTERS_NS,
    Windows,
)

BUSY_NS = NS_PER_S
"""A delay that comes so near to a timeout may exceed it on a busy machine."""


@dataclass(frozen=True, slots=True)
class _Request:
    """patience_ns: when it runs out. closes: the connection then."""

    patience_ns: int
    closes: bool = True


_REQUESTS: Mapping[RequestKind, _Request] = {
    RequestKind.PULL: _Request(PULL_TIMEOUT_NS + PULL_TIMEOUT_SCAN_NS, closes=False),
    RequestKind.SEND_BACK: _Request(5 * NS_PER_S),
    RequestKind.OFFSETS: _Request(OFFSET_ASKED_NS),
    RequestKind.HEARTBEAT: _Request(ASKED_NS),
    RequestKind.LOCK: _Request(NS_PER_S),
}
"""Timeouts that every release has: consumerTimeoutMillisWhenSuspend, and constants of RemoteBrokerOffsetStore and RebalanceImpl."""

_MOVING = (RequestKind.OFFSETS, RequestKind.HEARTBEAT, RequestKind.LOCK)
"""Requests on which it depends when a member takes a queue."""


def may_run_out(kind: FaultKind, hit: WireHit) -> bool:
    """True if a request may have no answer in its time."""
    is_late = round(hit.delay_ms) * NS_PER_MS + BUSY_NS >= _REQUESTS[hit.of].patience_ns
    return kind is FaultKind.WIRE_SWALLOW or (kind is FaultKind.WIRE_DELAY and is_late)


def may_close(kind: FaultKind, hit: WireHit) -> bool:
    """True if connections may close, with what was on its way, so that the broker drops members."""
    return kind is FaultKind.WIRE_RESET or (_REQUESTS[hit.of].closes and may_run_out(kind, hit))


def lingers_ns(kind: FaultKind, hit: WireHit) -> int:
    """From the end of the fault to the end of the last request that it hit, at the longest."""
    delay_ns = round(hit.delay_ms) * NS_PER_MS
    return max(delay_ns, _REQUESTS[hit.of].patience_ns) if may_run_out(kind, hit) else delay_ns


def may_move_queues(kind: FaultKind, hit: WireHit) -> bool:
    """True if members may come by their queues later, or lose them."""
    return hit.of in _MOVING or may_close(kind, hit)


def may_lose_commits(kind: FaultKind, hit: WireHit) -> bool:
    """
    True if a commit may come late, or not at all.

    A pull names an offset to commit as well: if it comes late, it may overwrite a later one.
    """
    is_of_commits = hit.of is RequestKind.OFFSETS or (hit.of is RequestKind.PULL and kind is FaultKind.WIRE_DELAY)
    return (is_of_commits and hit.frames is Frames.REQUESTS) or may_close(kind, hit)


def may_meet_hand_backs(kind: FaultKind, hit: WireHit) -> bool:
    """True if the hand-back of a failed message may have no answer: its broker may have stored it all the same."""
    return hit.of is RequestKind.SEND_BACK or may_close(kind, hit)


def stands_still(windows: Windows, kind: FaultKind, hit: WireHit) -> int:
    """From the last request that was hit to the next pull of a queue of that broker, by a member that keeps it, at the longest."""
    closed_ns = windows.closed_connection() if may_close(kind, hit) else 0
    match hit.of:
        case RequestKind.PULL:
            return max(closed_ns, windows.pull_failure_ns if may_run_out(kind, hit) else 0)
        case RequestKind.HEARTBEAT:  # a pull with a newer subscription than the broker's is refused
            return max(closed_ns, windows.pull_failure_ns)
        case RequestKind.LOCK:
            return closed_ns + windows.lock_asked_again()
        case _:
            return closed_ns


def moves_queues_for(windows: Windows, kind: FaultKind, hit: WireHit, queues: int) -> int:
    """
    From the last request that was hit until each queue has its owner again; queues: of that broker.

    A list without a member has it give up everything, until its next heartbeat. A lost unlock leaves a queue locked.
    """
    closed_ns = windows.closed_connection() if may_close(kind, hit) else 0
    beside_ns = windows.no_owner_beside_a_broker_that_is_down(queues)
    return closed_ns + beside_ns + windows.lock_of_another(was_killed=True)


def is_down(fault: FaultRecord) -> bool:
    """True for a fault during which a server that consumers use answers nothing."""
    traits = fault.kind.traits
    return traits.means in (Means.PAUSE, Means.KILL) and traits.node in (NodeKind.BROKER, NodeKind.NAME_SERVER)


def is_of_name_server(fault: FaultRecord) -> bool:
    """True if the name server itself was faulty."""
    return fault.kind.traits.node is NodeKind.NAME_SERVER


def is_felt(fault: FaultRecord) -> bool:
    """True if messages may come later."""
    return is_down(fault) or fault.hit is not None


def moves_queues(fault: FaultRecord) -> bool:
    """True if it may leave open who owns a queue."""
    return is_down(fault) or (fault.hit is not None and may_move_queues(fault.kind, fault.hit))


def closes_connections(fault: FaultRecord) -> bool:
    """True for a fault on the wire at which members may lose their connections to a broker that is there."""
    return fault.hit is not None and may_close(fault.kind, fault.hit)


def hides_commits(fault: FaultRecord) -> bool:
    """True if commits may come late or not at all."""
    return is_down(fault) or (fault.hit is not None and may_lose_commits(fault.kind, fault.hit))


def meets_hand_backs(fault: FaultRecord) -> bool:
    """True if the hand-back of a failed message may get no answer."""
    return is_down(fault) or (fault.hit is not None and may_meet_hand_backs(fault.kind, fault.hit))


def over_ns(fault: FaultRecord) -> int | None:
    """Return when a fault is over, with the last request that it hit; None for never."""
    if fault.healed_ns is None or fault.hit is None:
        return fault.healed_ns
    return fault.healed_ns + lingers_ns(fault.kind, fault.hit)


def unreachable_until_ns(fault: FaultRecord) -> int | None:
    """
    Return until when a member may not have reached a broker to commit, None for ever.

    A name server that was silent may have dropped a broker, whose address clients then forget until it registers anew.
    """
    if fault.healed_ns is None or not is_of_name_server(fault):
        return over_ns(fault)
    return fault.healed_ns + REGISTERS_NS + MARGIN_NS


def may_stay(faults: Sequence[FaultRecord], end_ns: int | None) -> bool:
    """True if a fault may have met both ways of the hand-back of a call that ended then."""
    return end_ns is not None and any(
        fault.inject_ns <= end_ns + BOTH_WAYS_NS and ((until_ns := over_ns(fault)) is None or end_ns <= until_ns)
        for fault in faults
    )
