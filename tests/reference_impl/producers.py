"""Producers with a fixed start and idle background threads, and a recording listener and callback."""

import queue
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rocketmq_reference.api.listener import AttemptEnded, AttemptStarted, RouteChanged
from rocketmq_reference.api.message import SendResult
from rocketmq_reference.api.producer import Producer
from rocketmq_reference.api.settings import ProducerSettings
from rocketmq_reference.dialects import dialect_of
from tests.live import PLENTY_MS
from tests.reference_impl.fake_broker import FakeCluster

Item = TypeVar("Item")

NEVER_MS = 3_600_000
_PATIENCE_S = 10  # time to wait before a test fails


class StartAt:
    """A tape on which every counter starts at a given number and lists are not shuffled."""

    def __init__(self, number: int) -> None:
        self._number = number

    def int32(self) -> int:
        return self._number

    def below(self, bound: int) -> int:
        return self._number % bound

    def shuffle(self, items: list[Item]) -> None:
        pass


@dataclass
class Remembered:
    """A listener that records its events."""

    started: list[AttemptStarted] = field(default_factory=list)
    ended: list[AttemptEnded] = field(default_factory=list)
    routes: list[RouteChanged] = field(default_factory=list)

    def attempt_started(self, event: AttemptStarted) -> None:
        self.started.append(event)

    def attempt_ended(self, event: AttemptEnded) -> None:
        self.ended.append(event)

    def route_changed(self, event: RouteChanged) -> None:
        self.routes.append(event)

    @property
    def attempts(self) -> list[tuple[str, int]]:
        return [(event.broker[-1], event.queue_id) for event in self.ended]


class CalledBack:
    """A callback that records its results and errors."""

    def __init__(self) -> None:
        self._told: queue.Queue[SendResult | Exception] = queue.Queue()

    def on_success(self, result: SendResult) -> None:
        self._told.put(result)

    def on_exception(self, error: Exception) -> None:
        self._told.put(error)

    def result(self) -> SendResult:
        reported = self._told.get(timeout=_PATIENCE_S)
        assert isinstance(reported, SendResult), reported
        return reported

    def error(self, scanning: Producer | None = None) -> Exception:
        """Return the next call's error; scanning: a producer that scans for expired requests meanwhile."""
        end = time.monotonic() + _PATIENCE_S
        while scanning is not None and self.is_quiet and time.monotonic() < end:
            scan(scanning)
            time.sleep(0.01)
        reported = self._told.get(timeout=_PATIENCE_S)
        assert isinstance(reported, Exception), reported
        return reported

    @property
    def is_quiet(self) -> bool:
        """True if there is no unread call."""
        return self._told.empty()


def scan(producer: Producer) -> None:
    producer._client.host.post(producer._client.network.remoting.scan)


def connect(producer: Producer) -> None:
    """Look up topic T and connect to all brokers, so that a later send with a short timeout is written at once."""
    producer.queues("T")
    producer.heartbeat()


def producer_of(
    cluster: FakeCluster,
    release: str = "5.3.3",
    *,
    start: int = -1,
    listener: Remembered | None = None,
    further: Sequence[str] = (),
    **settings: Any,
) -> Producer:
    """
    Return a producer, not started, whose threads begin at the first queue, or at the one after ``start``.

    further: addresses of other name servers. By default it neither polls nor sends heartbeats, and a healthy broker on a busy machine has time to answer.
    """
    quiet: dict[str, Any] = {
        "first_poll_ms": NEVER_MS,
        "first_heartbeat_ms": NEVER_MS,
        "unregister_on_shutdown": False,
        "send_msg_timeout_ms": PLENTY_MS,
    }
    return Producer(
        [cluster.name_server.address, *further],
        "G",
        dialect_of(release),
        ProducerSettings(**(quiet | settings)),
        listener,
        tapes=lambda: StartAt(start),
    )
