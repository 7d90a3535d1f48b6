"""Wire faults through real relays, and their proofs."""

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
from rocketdiff.cluster.operations.admin import probe_broker
from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.tables.fault import ON_THE_WIRE, FaultKind, FaultRecord, FaultSpec, Frames, RequestKind
from rocketdiff.relay.proxy.process import Relay
from rocketdiff.relay.proxy.switches import Switch
from rocketdiff.relay.remoting.record import Passed, read_wire
from rocketdiff.run.case.wire_faults import needs_relays, with_relays
from rocketmq_reference.remoting.frames import Command
from tests.live import repeated
from tests.reference_impl.fake_broker import FakeCluster
from tests.reference_impl.host.requesting import await_unanswered
from tests.relay.relayed import await_that, start_relay
from tests.relay.servers import Servers
from tests.subjects.processes import only_child

EVERY = [(kind, frames, None) for kind in sorted(ON_THE_WIRE) for frames in Frames]
OF_CONSUMERS = [
    (FaultKind.WIRE_DELAY, Frames.RESPONSES, RequestKind.PULL),
    (FaultKind.WIRE_RESET, Frames.REQUESTS, RequestKind.SEND_BACK),
    (FaultKind.WIRE_SWALLOW, Frames.REQUESTS, RequestKind.OFFSETS),
    (FaultKind.WIRE_DELAY, Frames.REQUESTS, RequestKind.HEARTBEAT),
    (FaultKind.WIRE_SWALLOW, Frames.RESPONSES, RequestKind.LOCK),
]


PATIENCE_MS = 10_000
"""Much longer than a delay: the journal, not the clock, shows delays."""


def passes_untouched(relay: Relay, node: str) -> bool:
    """Whether the relay's journal shows a probe's request and response without action."""
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

    cluster: Servers
    relays: list[Relay]

    def inject(self, spec: FaultSpec) -> FaultRecord:
        return with_relays(self.relays)[spec.kind].inject(self.cluster, spec)

    def is_well(self, letter: str) -> bool:
        """Whether a probe through every relay is answered without a relay's action."""
        return all(passes_untouched(relay, f"broker-{letter}") for relay in self.relays)


@dataclass
class Idle:
    """A relay that ignores its switches and has another relay's addresses."""

    addresses: dict[str, str]
    told: list[Switch] = field(default_factory=list)

    def turn_on(self, switch: Switch) -> int:
        self.told.append(switch)
        return len(self.told)

    def turn_off(self, number: int) -> None:
        """Does nothing."""


class Stuck(Idle):
    """A relay whose switches stay on."""

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
        yield Wire(Servers(fake), relays)


def spec_of(kind: FaultKind, frames: Frames, of: RequestKind | None = None) -> FaultSpec:
    delay_ms = 200.0 if kind is FaultKind.WIRE_DELAY else 0.0
    return FaultSpec(1, kind, "broker-b", 1.5, 1.0, frames, delay_ms, of)


@pytest.mark.parametrize(("kind", "frames", "of"), [*EVERY, *OF_CONSUMERS])
def test_each_wire_fault_is_proven_and_healed(
    wire: Wire, kind: FaultKind, frames: Frames, of: RequestKind | None
) -> None:
    """Each wire fault on one broker is proven and healed through every relay; the other broker works, and other requests pass."""
    spec = spec_of(kind, frames, of)
    fault = with_relays(wire.relays)[kind]
    record = fault.inject(wire.cluster, spec)
    assert record.proven_ns is not None
    assert record.inject_ns <= record.injected_ns <= record.proven_ns
    assert wire.is_well("a")
    assert of is None or wire.is_well("b")
    healed = fault.heal(wire.cluster, record)
    assert healed.heal_proven_ns is not None
    assert wire.is_well("b")


@pytest.mark.parametrize("kind", sorted(ON_THE_WIRE))
def test_a_fault_that_one_relay_does_not_do_is_not_proven(wire: Wire, kind: FaultKind) -> None:
    """
    A fault that one of two relays ignores is not proven.

    Repeated if a busy machine was as slow as the fault.
    """

    def with_an_idle_relay(_: int) -> tuple[Idle, UnprovenFault | None]:
        idle = Idle(wire.relays[1].addresses)
        return idle, what_is_not_proven(wire, kind, [wire.relays[0], cast("Relay", idle)])

    idle, problem = repeated(
        with_an_idle_relay,
        lambda outcome: "" if outcome[1] else f"{kind}: an answer through an idle relay came late",
    )
    assert problem is not None
    assert "saw an answer after" in str(problem)
    assert problem.record.proven_ns is None
    assert [switch.node for switch in idle.told] == ["broker-b"]


def what_is_not_proven(wire: Wire, kind: FaultKind, relays: list[Relay]) -> UnprovenFault | None:
    """The problem of an injected fault; None if it was proven."""
    fault = with_relays(relays)[kind]
    try:
        record = fault.inject(wire.cluster, spec_of(kind, Frames.RESPONSES))
    except UnprovenFault as problem:
        return problem
    fault.heal(wire.cluster, record)
    return None


def test_a_refused_connection_is_no_reset(wire: Wire) -> None:
    """A refused connection does not prove a reset."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound, not listening
        nobody = cast("Relay", Idle({"broker-b": f"127.0.0.1:{closed.getsockname()[1]}"}))
        faults = with_relays([nobody])
        with pytest.raises(UnprovenFault):
            faults[FaultKind.WIRE_RESET].inject(wire.cluster, spec_of(FaultKind.WIRE_RESET, Frames.REQUESTS))


def test_a_fault_that_does_not_end_is_reported(wire: Wire) -> None:
    """A reset that continues after its end is an error."""
    faults = with_relays([cast("Relay", Stuck(wire.relays[0]))])
    fault = faults[FaultKind.WIRE_RESET]
    record = fault.inject(wire.cluster, spec_of(FaultKind.WIRE_RESET, Frames.REQUESTS))
    with pytest.raises(UnprovenFault, match="to answer through its relay again") as raised:
        fault.heal(wire.cluster, record)
    assert raised.value.record.heal_proven_ns is None


def test_a_relay_that_is_gone_ends_the_case(wire: Wire) -> None:
    """A relay that ended is an environment error."""
    os.kill(only_child(wire.relays[0].pid), signal.SIGKILL)
    with pytest.raises(EnvironmentMissing, match="the recording relay to answer"):
        wire.inject(spec_of(FaultKind.WIRE_SWALLOW, Frames.REQUESTS))
    with pytest.raises(EnvironmentMissing):
        wire.relays[0].close()


def test_frames_of_another_direction_pass(wire: Wire) -> None:
    """If responses are dropped requests still pass, so the broker stores what the client counts as lost."""
    wire.inject(spec_of(FaultKind.WIRE_SWALLOW, Frames.RESPONSES))
    await_unanswered(lambda: probe_broker(wire.relays[0].addresses["broker-b"], 100, "asked"))

    def asked() -> list[Command]:
        return [request for request in wire.cluster.fake["b"].requests if request.ext_fields.get("topic") == "asked"]

    await_that(lambda: bool(asked()))
    assert len(asked()) == 1


def test_only_faults_on_the_wire_need_relays() -> None:
    """Dropped frames need relays; a pause does not."""
    pause = FaultSpec(1, FaultKind.PAUSE, "broker-b", 1.5, 1.0)
    assert not needs_relays([pause])
    assert needs_relays([pause, spec_of(FaultKind.WIRE_SWALLOW, Frames.REQUESTS)])
