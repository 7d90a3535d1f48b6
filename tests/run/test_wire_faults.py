"""Faults on the wire through real relays before in-memory servers: done, undone, and both proven or not believed."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from rocketdiff.cluster.faults.record import UnprovenFault
from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.operations.admin import probe_broker
from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.tables.fault import ON_THE_WIRE, FaultKind, FaultRecord, FaultSpec, Frames
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.proxy.switches import Switch
from rocketdiff.relay.remoting.record import Passed, read_wire
from rocketdiff.run.case.wire_faults import needs_relays, with_relays
from rocketmq_reference.remoting.errors import RemotingException
from tests.live import TRIES, tell_repeat
from tests.reference_impl.fake_broker import FakeCluster
from tests.relay.relayed import await_that, start_relay
from tests.relay.servers import Servers
from tests.subjects.processes import only_child

EVERY = [(kind, frames) for kind in sorted(ON_THE_WIRE) for frames in Frames]


PATIENCE_MS = 10_000
"""Far more than a delay takes: what tells a delayed answer from a prompt one is the relay's journal, not the clock."""


def passes_untouched(relay: Relay, node: str) -> bool:
    """Whether the relay wrote down of a probe, request and answer, that nothing was done to it."""
    began_ns = time.monotonic_ns()
    probe_broker(relay.addresses[node], PATIENCE_MS)

    def frames() -> list[Passed]:
        records = (record for record in read_wire(relay.journal) if isinstance(record, Passed))
        return [record for record in records if record.node == node and record.in_ns >= began_ns]

    await_that(lambda: len(frames()) >= 2)
    return all(frame.action is None for frame in frames())


@dataclass
class Wire:
    """Two relays before two brokers, as in a case."""

    cluster: Cluster
    relays: list[Relay]

    def inject(self, spec: FaultSpec) -> FaultRecord:
        return with_relays(self.relays)[spec.kind].inject(self.cluster, spec)

    def is_well(self, letter: str) -> bool:
        """Whether a probe through every relay is answered, and no relay did anything to its frames."""
        return all(passes_untouched(relay, f"broker-{letter}") for relay in self.relays)


@dataclass
class Idle:
    """A relay that does nothing of what it is told; its addresses are those of another."""

    addresses: dict[str, str]
    told: list[Switch] = field(default_factory=list)

    def turn_on(self, switch: Switch) -> int:
        self.told.append(switch)
        return len(self.told)

    def turn_off(self, number: int) -> None:
        """Not at all."""


class Stuck(Idle):
    """One whose switches stay on."""

    def __init__(self, relay: Relay) -> None:
        super().__init__(relay.addresses)
        self._relay = relay

    def turn_on(self, switch: Switch) -> int:
        return self._relay.turn_on(switch)


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    with ExitStack() as stack:
        fake = stack.enter_context(FakeCluster.of("a", "b"))
        relays = [stack.enter_context(start_relay(fake, tmp_path / arm)) for arm in ("one", "two")]
        yield Wire(cast("Cluster", Servers(fake)), relays)


def spec_of(kind: FaultKind, frames: Frames) -> FaultSpec:
    delay_ms = 200.0 if kind is FaultKind.WIRE_DELAY else 0.0
    return FaultSpec(1, kind, "broker-b", 1.5, 1.0, frames, delay_ms)


@pytest.mark.parametrize(("kind", "frames"), EVERY)
def test_done_and_undone_with_proof(wire: Wire, kind: FaultKind, frames: Frames) -> None:
    """Through every relay, at one broker; the other is well all the time, and both are afterwards."""
    spec = spec_of(kind, frames)
    fault = with_relays(wire.relays)[kind]
    record = fault.inject(wire.cluster, spec)
    assert record.proven_ns is not None
    assert record.inject_ns <= record.injected_ns <= record.proven_ns
    assert wire.is_well("a")
    healed = fault.heal(wire.cluster, record)
    assert healed.heal_proven_ns is not None
    assert wire.is_well("b")


@pytest.mark.parametrize("kind", sorted(ON_THE_WIRE))
def test_a_fault_that_one_relay_does_not_do_is_not_proven(wire: Wire, kind: FaultKind) -> None:
    """
    A probe through it is answered at once, as if nothing were.

    Tried again where a crowded machine was as slow as the fault would have made it.
    """
    for _ in range(TRIES):
        idle = Idle(wire.relays[1].addresses)
        problem = what_is_not_proven(wire, kind, [wire.relays[0], cast("Relay", idle)])
        if problem is not None:
            break
        tell_repeat(f"{kind}: an answer through an idle relay came late")
    assert problem is not None
    assert "saw an answer after" in str(problem)
    assert problem.record.proven_ns is None
    assert [switch.node for switch in idle.told] == ["broker-b"]


def what_is_not_proven(wire: Wire, kind: FaultKind, relays: list[Relay]) -> UnprovenFault | None:
    """Of a fault that was injected through these relays; one that was proven is healed."""
    fault = with_relays(relays)[kind]
    try:
        record = fault.inject(wire.cluster, spec_of(kind, Frames.RESPONSES))
    except UnprovenFault as problem:
        return problem
    fault.heal(wire.cluster, record)
    return None


def test_a_refused_connection_is_no_reset(wire: Wire) -> None:
    """Nobody listens there: that proves another fault, which nobody asked for."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and does not listen
        nobody = cast("Relay", Idle({"broker-b": f"127.0.0.1:{closed.getsockname()[1]}"}))
        faults = with_relays([nobody])
        with pytest.raises(UnprovenFault):
            faults[FaultKind.WIRE_RESET].inject(wire.cluster, spec_of(FaultKind.WIRE_RESET, Frames.REQUESTS))


def test_a_fault_that_does_not_end_is_told(wire: Wire) -> None:
    """Its relay keeps on resetting; the record has no proof of an end."""
    faults = with_relays([cast("Relay", Stuck(wire.relays[0]))])
    fault = faults[FaultKind.WIRE_RESET]
    record = fault.inject(wire.cluster, spec_of(FaultKind.WIRE_RESET, Frames.REQUESTS))
    with pytest.raises(UnprovenFault, match="to answer through its relay again") as raised:
        fault.heal(wire.cluster, record)
    assert raised.value.record.heal_proven_ns is None


def test_a_relay_that_is_gone_ends_the_case(wire: Wire) -> None:
    """No fault of the cluster's: what nobody could do is an error of ours, with its cause."""
    os.kill(only_child(wire.relays[0].pid), signal.SIGKILL)
    with pytest.raises(EnvironmentMissing, match="the recording relay to answer"):
        wire.inject(spec_of(FaultKind.WIRE_SWALLOW, Frames.REQUESTS))
    with pytest.raises(EnvironmentMissing):
        wire.relays[0].close()


def test_frames_of_another_direction_pass(wire: Wire) -> None:
    """Answers are lost, requests are not: the broker has seen what the client thinks lost."""
    servers = cast("Servers", wire.cluster)
    wire.inject(spec_of(FaultKind.WIRE_SWALLOW, Frames.RESPONSES))
    seen = len(servers.fake["b"].requests)
    with pytest.raises(RemotingException):
        probe_broker(wire.relays[0].addresses["broker-b"], 100)
    await_that(lambda: len(servers.fake["b"].requests) == seen + 1)


def test_only_faults_on_the_wire_need_relays() -> None:
    """A pause does not, a swallowed frame does."""
    pause = FaultSpec(1, FaultKind.PAUSE, "broker-b", 1.5, 1.0)
    assert not needs_relays([pause])
    assert needs_relays([pause, spec_of(FaultKind.WIRE_SWALLOW, Frames.REQUESTS)])
