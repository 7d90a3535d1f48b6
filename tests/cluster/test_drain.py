"""How long brokers must be quiet: checks are counted, each 0.1 s apart."""

import time
from collections.abc import Callable, Iterator
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

    def make(*shown: QueueEnds, busy: tuple[str | None, ...] = ()) -> list[float]:
        clock, slept = [0.0], []
        ends: Iterator[QueueEnds] = chain(shown, repeat(shown[-1]))
        pending: Iterator[str | None] = chain(busy, repeat(None))

        def sleep(seconds: float) -> None:
            slept.append(seconds)
            clock[0] += seconds

        monkeypatch.setattr(time, "sleep", sleep)
        monkeypatch.setattr(time, "monotonic", lambda: round(clock[0], 6))
        monkeypatch.setattr(drain, "channels_to", lambda _: nullcontext(None))
        monkeypatch.setattr(drain, "queue_ends", lambda *_: next(ends))
        monkeypatch.setattr(drain, "_pending", lambda *_: next(pending))
        return slept

    return make


def test_queues_are_drained_after_half_a_second_of_quiet(looks: Looks) -> None:
    """Queues are drained after five checks without change, 0.5 s."""
    slept = looks(SEVEN)
    assert await_drained(FakeCluster(), ["T"]).ends == SEVEN
    assert len(slept) == 5


def test_drained_queues_with_the_same_ends_need_one_check(looks: Looks) -> None:
    """Queues drained before with the same ends need one check."""
    slept = looks(SEVEN)
    await_drained(FakeCluster(), ["T"], before=Drained(SEVEN, 1))
    assert len(slept) == 1


def test_ends_that_moved_since_are_waited_for_in_full(looks: Looks) -> None:
    """Queue ends that changed since the last drain are awaited in full."""
    slept = looks(EIGHT)
    assert await_drained(FakeCluster(), ["T"], before=Drained(SEVEN, 1)).ends == EIGHT
    assert len(slept) == 5


@pytest.mark.parametrize("moving", [{"shown": (SEVEN, EIGHT)}, {"shown": (SEVEN,), "busy": ("unread bytes",)}])
def test_whatever_moves_at_the_look_begins_the_wait_anew(looks: Looks, moving: dict[str, tuple[object, ...]]) -> None:
    """A growing queue end or unread bytes restart the wait: one check, then five."""
    slept = looks(*moving["shown"], busy=moving.get("busy", ()))
    await_drained(FakeCluster(), ["T"], before=Drained(SEVEN, 1))
    assert len(slept) == 6


def test_queues_that_never_become_quiet_are_an_error(looks: Looks) -> None:
    """Queues that never become quiet are an error."""
    looks(SEVEN, busy=("unread bytes",) * 100)
    with pytest.raises(ClusterError, match="unread bytes"):
        await_drained(FakeCluster(), ["T"], 1.0)
