"""Proofs that retry: how often, and at which node."""

import time
from collections.abc import Iterator

import pytest

from rocketdiff.cluster.faults import proof
from rocketdiff.cluster.interface import Node, NodeState
from rocketdiff.core.errors import FaultNotProven
from rocketdiff.core.tables.topology import NodeKind
from tests.cluster.fakes import FakeCluster

SLAVE = Node(NodeKind.SLAVE, "a", "broker-a-slave-1", "127.0.0.1:1", None)


class Clock:
    """Replaces the module `time`: only sleep() moves it, and sleeps are recorded."""

    def __init__(self) -> None:
        self.slept_s: list[float] = []

    def monotonic(self) -> float:
        return sum(self.slept_s)

    def sleep(self, for_s: float) -> None:
        assert len(self.slept_s) < 10_000, "nobody waits that long"
        self.slept_s.append(for_s)

    monotonic_ns = staticmethod(time.monotonic_ns)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(proof, "time", made)
    return made


def answers(monkeypatch: pytest.MonkeyPatch, replies: Iterator[str | None], clock: Clock) -> None:
    """Results of successive checks of the slave; fails after 1,000 checks without a pause."""

    def look(*_: object) -> str | None:
        assert clock.slept_s or next(looks) < 1_000, "it looks without a pause"
        return next(replies)

    looks = iter(range(1_001))
    monkeypatch.setattr(proof, "missing_copy", look)


def test_looks_for_a_copy_have_pauses_between_them(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Checks for a copy have pauses, because each stores a message."""
    answers(monkeypatch, iter(["behind", "behind", None]), clock)
    proof.prove_copied(FakeCluster(), SLAVE)
    assert len(clock.slept_s) == 2
    assert min(clock.slept_s) > 0


def test_a_missing_copy_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """A copy that never arrives is an error after fewer than 1,000 checks."""
    answers(monkeypatch, iter(lambda: "it ends at 3", None), clock)
    with pytest.raises(FaultNotProven, match="broker-a-slave-1 to hold what broker-a stores; saw it ends at 3"):
        proof.prove_copied(FakeCluster(), SLAVE)
    assert len(clock.slept_s) < 1_000


def test_a_slave_whose_master_is_ill_must_only_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slave must only answer while its master is paused and cannot store."""
    cluster = FakeCluster()
    cluster.states["broker-a"] = NodeState.PAUSED
    monkeypatch.setattr(proof, "prove_answer", lambda node: 7 if node is SLAVE else 0)
    assert proof.prove_copied(cluster, SLAVE) == 7
