"""How long brokers must be quiet: checks are counted, each 0.1 s apart."""

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import nullcontext
from itertools import chain, repeat

import pytest

from rocketdiff.cluster.operations import drain
from rocketdiff.cluster.operations.drain import Drained, QueueEnds, await_drained
from rocketdiff.core.errors import ClusterError
from tests.cluster.fakes import FakeCluster

SEVEN: QueueEnds = {("T", "broker-a", 0): 7}
EIGHT: QueueEnds = {("T", "broker-a", 0): 8}

Looks = Callable[..., "list[float]"]


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    """Brokers that report these queue ends, the last repeatedly; returns the sleeps of a fake clock."""

    def make(
        *shown: QueueEnds, busy: tuple[str | None, ...] = (), registered: tuple[Collection[str], ...] = ()
    ) -> list[float]:
        clock, slept = [0.0], []
        ends: Iterator[QueueEnds] = chain(shown, repeat(shown[-1]))
        last = {node.name for node in FakeCluster().brokers} if len(registered) < 2 else registered[-1]
        known = (dict.fromkeys(names, "") for names in chain(registered, repeat(last)))
        pending: Iterator[str | None] = chain(busy, repeat(None))

        def sleep(seconds: float) -> None:
            slept.append(seconds)
            clock[0] += seconds

        monkeypatch.setattr(time, "sleep", sleep)
        monkeypatch.setattr(time, "monotonic", lambda: round(clock[0], 6))
        monkeypatch.setattr(drain, "channels_to", lambda _: nullcontext(None))
        monkeypatch.setattr("rocketdiff.cluster.operations.admin.registered_brokers", lambda *_: next(known))
        monkeypatch.setattr(drain, "queue_ends", lambda *_: next(ends))
        monkeypatch.setattr(drain, "_pending", lambda *_: next(pending))
        return slept

    return make


BUSY = ("unread bytes",)


@pytest.mark.parametrize(
    ("shown", "busy", "before", "checks"),
    [
        pytest.param((SEVEN,), (), None, 5, id="half a second of quiet"),
        pytest.param((SEVEN,), (), Drained(SEVEN, 1), 1, id="the same ends as before"),
        pytest.param((EIGHT,), (), Drained(SEVEN, 1), 5, id="ends that moved since"),
        pytest.param((SEVEN, EIGHT), (), Drained(SEVEN, 1), 1 + 5, id="an end that moves meanwhile"),
        pytest.param((SEVEN,), BUSY, None, 1 + 5, id="unread bytes"),
        pytest.param((SEVEN,), BUSY * 3, Drained(SEVEN, 1), 3 + 1, id="unread bytes beside the same ends as before"),
        pytest.param(
            (SEVEN, SEVEN, SEVEN, EIGHT), BUSY * 2, Drained(SEVEN, 1), 3 + 5, id="unread bytes that move an end"
        ),
    ],
)
def test_drained_queues_are_quiet_for_half_a_second(
    looks: Looks, shown: tuple[QueueEnds, ...], busy: tuple[str, ...], before: Drained | None, checks: int
) -> None:
    """Queues are drained after five checks without change, or one with the ends of an earlier drain; a change starts them anew."""
    slept = looks(*shown, busy=busy)
    assert await_drained(FakeCluster(), ["T"], before=before).ends == shown[-1]
    assert len(slept) == checks


def test_a_broker_without_a_route_is_waited_for(looks: Looks) -> None:
    """A name server that was paused has dropped a broker: its queues would be left out until it registers."""
    slept = looks(SEVEN, registered=({"broker-a"},))
    await_drained(FakeCluster(), ["T"])
    assert len(slept) == 1 + 5


def test_a_queue_that_leaves_the_route_is_no_quiet(looks: Looks) -> None:
    """A queue that was there and is in no route any more is waited for."""
    slept = looks(SEVEN, {}, SEVEN)
    assert await_drained(FakeCluster(), ["T"]).ends == SEVEN
    assert len(slept) >= 2 + 5


def test_a_broker_that_never_registers_is_an_error(looks: Looks) -> None:
    """What a broker has stored cannot be read without it."""
    looks(SEVEN, registered=({"broker-a"}, {"broker-a"}))
    with pytest.raises(ClusterError, match="none of broker-b for 45 s"):
        await_drained(FakeCluster(), ["T"])


def test_queues_that_never_become_quiet_are_an_error(looks: Looks) -> None:
    """Queues that never become quiet are an error."""
    looks(SEVEN, busy=("unread bytes",) * 100)
    with pytest.raises(ClusterError, match="unread bytes"):
        await_drained(FakeCluster(), ["T"], 1.0)
