"""
Faults on the wire: relays delay, swallow or reset the frames to or from one broker for a while.

The broker stays healthy. The proof is a request through each relay: delayed, unanswered or reset while the fault is in
force, and answered normally afterwards. Of producers every frame is affected, not only sends, because otherwise a probe could prove
nothing. Of consumers it is one kind of request, and the probe is of that kind: any answer is one, also an error, and a broker keeps
nothing of it.
"""

import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from rocketdiff.cluster.faults.catalogue import FAULTS
from rocketdiff.cluster.faults.process_faults import move_fault
from rocketdiff.cluster.faults.proof import ANSWER_TIMEOUT_MS, SILENCE_MS
from rocketdiff.cluster.faults.record import FaultAction, healed, injected
from rocketdiff.cluster.interface import Cluster, Node, Span, node_named
from rocketdiff.cluster.operations.admin import ask_once
from rocketdiff.core.errors import FaultNotProven
from rocketdiff.core.security import OPEN, Security
from rocketdiff.core.tables.fault import ON_THE_WIRE, FaultKind, FaultRecord, FaultSpec, Frames, RequestKind
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.relay.proxy.listener import Upstream
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.proxy.switches import Action, Switch
from rocketdiff.relay.remoting.consuming import LOCK_BATCH_MQ, PULLS, UNLOCK_BATCH_MQ
from rocketmq_reference.remoting import consuming, requests
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.remoting.errors import (
    RemotingException,
    RemotingSendRequestException,
    RemotingTimeoutException,
)
from rocketmq_reference.remoting.frames import Command, Serialization

_ACTIONS = {
    FaultKind.WIRE_DELAY: Action.DELAY,
    FaultKind.WIRE_RESET: Action.RESET,
    FaultKind.WIRE_SWALLOW: Action.SWALLOW,
}
_TO = {Frames.REQUESTS: "server", Frames.RESPONSES: "client"}

CODES: Mapping[RequestKind, tuple[int, ...]] = {
    RequestKind.PULL: tuple(sorted(PULLS)),
    RequestKind.SEND_BACK: (RequestCode.CONSUMER_SEND_MSG_BACK,),
    RequestKind.OFFSETS: (RequestCode.QUERY_CONSUMER_OFFSET, RequestCode.UPDATE_CONSUMER_OFFSET),
    RequestKind.HEARTBEAT: (RequestCode.HEART_BEAT,),
    RequestKind.LOCK: (LOCK_BATCH_MQ, UNLOCK_BATCH_MQ),
}

PROBE = "rocketdiff-probe"
"""Id of the client that probes, in requests that need one."""

_ROUNDED_MS = 1.0
"""The relay's timer may fire this much early, because its clock is coarser than ours."""


def with_relays(relays: Collection[Relay], security: Security = OPEN) -> Mapping[FaultKind, FaultAction]:
    """
    Every kind of fault, with these relays of one case for those on the wire, and following a broker that moves.

    security: how to connect to the relays.
    """
    wire = _Wire(tuple(relays), security)
    on_the_wire = dict.fromkeys(ON_THE_WIRE, FaultAction(wire.inject, wire.heal))
    return {**FAULTS, **on_the_wire, FaultKind.MOVE: move_fault(wire.follow)}


def needs_relays(faults: Collection[FaultSpec]) -> bool:
    """True if a schedule contains faults on the wire."""
    return any(fault.kind in ON_THE_WIRE for fault in faults)


@dataclass(slots=True)
class _Wire:
    """The relays of a case. _on: by episode the switches that are on, one per relay."""

    relays: tuple[Relay, ...]
    security: Security = OPEN
    _on: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _specs: dict[int, FaultSpec] = field(default_factory=dict)

    def inject(self, cluster: Cluster, spec: FaultSpec) -> FaultRecord:
        """Raises UnprovenFault."""
        self._specs[spec.episode] = spec
        node = node_named(cluster, spec.node)
        prove = partial(_prove_in_force, spec, probe_of(spec, node.probe_topic), self.security)
        return injected(spec, node.name, lambda: self._turn_on(spec), lambda: self._each(node, prove))

    def heal(self, cluster: Cluster, record: FaultRecord) -> FaultRecord:
        """Raises UnprovenFault."""
        spec = self._specs[record.episode]
        node = node_named(cluster, spec.node)
        prove = partial(_prove_over, spec, probe_of(spec, node.probe_topic), self.security)
        return healed(record, lambda: self._turn_off(spec), lambda: self._each(node, prove))

    def follow(self, moved: Node) -> None:
        """Before the broker starts, so that no route leads past the relays."""
        for relay in self.relays:
            relay.move(Upstream(moved.name, moved.address, is_broker=True))

    def _turn_on(self, spec: FaultSpec) -> Span:
        assert spec.frames is not None, "the format asks for them"
        codes = () if spec.of is None else CODES[spec.of]
        switch = Switch(_ACTIONS[spec.kind], spec.node, _TO[spec.frames], codes=codes, delay_ms=spec.delay_ms)
        begin_ns = time.monotonic_ns()
        self._on[spec.episode] = tuple(relay.turn_on(switch) for relay in self.relays)
        return Span(begin_ns, time.monotonic_ns())

    def _turn_off(self, spec: FaultSpec) -> Span:
        begin_ns = time.monotonic_ns()
        for relay, number in zip(self.relays, self._on.pop(spec.episode), strict=True):
            relay.turn_off(number)
        return Span(begin_ns, time.monotonic_ns())

    def _each(self, node: Node, prove: Callable[[str], int]) -> int:
        """Probe through all relays at once; the time of the last proof."""
        addresses = [relay.addresses[node.name] for relay in self.relays]
        with ThreadPoolExecutor(len(addresses)) as asking:
            return max(asking.map(prove, addresses))


def probe_of(spec: FaultSpec, topic: str) -> Command:
    """Return a request of the kind that a fault hits, of which a broker keeps nothing. topic: the harness's own, for questions."""
    match spec.of:
        case None:
            return requests.get_max_offset(topic, 0)
        case RequestKind.PULL:
            return requests.pull(topic, 0, 0, max_messages=1)
        case RequestKind.OFFSETS:
            return consuming.query_offset(requests.TOOLS_GROUP, topic, spec.node, 0, serialization=Serialization.JSON)
        case RequestKind.HEARTBEAT:
            return requests.heartbeat(PROBE, ())
        case RequestKind.LOCK:
            return consuming.lock_queues(requests.TOOLS_GROUP, PROBE, (), serialization=Serialization.JSON)
        case RequestKind.SEND_BACK:  # without its message, since a broker makes a retry topic before it looks for one
            return Command(RequestCode.CONSUMER_SEND_MSG_BACK)


def _prove_in_force(spec: FaultSpec, probe: Command, security: Security, address: str) -> int:
    began_ns = time.monotonic_ns()
    expected = f"a request to {spec.node} to be {_MET[spec.kind]} on its way"
    try:
        is_silence = spec.kind is FaultKind.WIRE_SWALLOW  # the others end the probe by themselves
        patience_ms = SILENCE_MS if is_silence else round(spec.delay_ms) + ANSWER_TIMEOUT_MS
        ask_once(address, probe, patience_ms, security)
    except RemotingException as error:
        if not isinstance(error, _PROOFS.get(spec.kind, ())):
            raise FaultNotProven(expected, seen=str(error)) from error
        return time.monotonic_ns()
    now_ns = time.monotonic_ns()
    took_ms = (now_ns - began_ns) / NS_PER_MS
    if spec.kind is FaultKind.WIRE_DELAY and took_ms >= spec.delay_ms - _ROUNDED_MS:
        return now_ns
    raise FaultNotProven(expected, seen=f"an answer after {took_ms:.0f} ms")


_MET = {FaultKind.WIRE_DELAY: "kept back", FaultKind.WIRE_RESET: "reset", FaultKind.WIRE_SWALLOW: "lost"}

_PROOFS: Mapping[FaultKind, type[RemotingException]] = {
    FaultKind.WIRE_RESET: RemotingSendRequestException,
    FaultKind.WIRE_SWALLOW: RemotingTimeoutException,
}
"""The error with which a probe must end. Another one, such as a refused connection, proves something else."""


def _prove_over(spec: FaultSpec, probe: Command, security: Security, address: str) -> int:
    """Wait for a response; after a delay fault for one faster than the delay, which a busy machine may not give at once."""
    deadline_ns = time.monotonic_ns() + ANSWER_TIMEOUT_MS * NS_PER_MS
    while True:
        began_ns = time.monotonic_ns()
        try:
            ask_once(address, probe, ANSWER_TIMEOUT_MS, security)
        except RemotingException as error:
            raise FaultNotProven(f"{spec.node} to answer through its relay again", seen=str(error)) from error
        now_ns = time.monotonic_ns()
        if spec.kind is not FaultKind.WIRE_DELAY or (now_ns - began_ns) / NS_PER_MS < spec.delay_ms:
            return now_ns
        if now_ns > deadline_ns:
            raise FaultNotProven(f"{spec.node} to answer sooner than within {spec.delay_ms:g} ms", seen="none that did")
