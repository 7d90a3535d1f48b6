"""What carries requests: the place where the two depths that send differ."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Protocol

from rocketdiff.simulation.virtual.client import Thread
from rocketdiff.simulation.virtual.kernel import Body, Wait
from rocketdiff.simulation.virtual.thrown import Thrown
from rocketmq_reference.rules.client.route import TopicRoute
from rocketmq_reference.rules.producer.attempt import SEND_OK, AttemptResult

TOPIC_NOT_EXIST = 17

_STATUSES = {0: SEND_OK, 10: "FLUSH_DISK_TIMEOUT", 11: "SLAVE_NOT_AVAILABLE", 12: "FLUSH_SLAVE_TIMEOUT"}
"""Response codes that are send statuses; any other is an error the broker answered."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a send request goes: a broker's queue, at its own port or at the one two below; broker None: a name server."""

    broker: str | None
    queue_id: int
    vip: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """
    An answer: its code, and the queue that a send's answer names, which is that of the request it answers.

    queue_id None: no send was asked. route: what the name server knew when it arrived. outcome: what the code alone says of a send; result: what a sender makes of it, who
    cannot read every answer.
    """

    code: int
    queue_id: int | None
    route: TopicRoute | None = None

    @property
    def outcome(self) -> AttemptResult:
        return send_answered(self.code)

    @property
    def result(self) -> AttemptResult:
        if self.code == 0 and self.queue_id is None:
            return AttemptResult.failed("NullPointerException")
        return send_answered(self.code)


@dataclass(frozen=True, slots=True)
class AsyncEnd:
    """
    How an asynchronous request ended: with an answer or an error; when it was written.

    direct: the failure came through no future.
    """

    answer: Answered | None
    error: str | None
    written_ms: int
    direct: bool


OnEnd = Callable[[AsyncEnd, Thread], Body]
"""What the end of an asynchronous request leads to, in whatever thread that happens."""


class Transport(Protocol):
    """The remoting client of one release, as far as it is simulated."""

    def send(self, target: Target, timeout_ms: int, /) -> Generator[Wait, bool, Answered]:
        """One send request that waits for its answer. Raises Thrown."""
        ...

    def send_one_way(self, target: Target, timeout_ms: int, /) -> Body:
        """One send request that waits for nothing but that it is handed over. Raises Thrown."""
        ...

    def send_async(self, target: Target, timeout_ms: int, on_end: OnEnd, thread: Thread, /, *, is_retry: bool) -> Body:
        """One send request whose end is told later. Raises Thrown where handing it over ends in an exception."""
        ...

    def route(self, timeout_ms: int, *, default_topic: bool) -> Generator[Wait, bool, TopicRoute]:
        """
        Ask the name server for the route, or for that of the topic that stands in for unknown ones.

        Raises Thrown: MQClientException with the answer's code, or a remoting exception.
        """
        ...


def send_answered(code: int) -> AttemptResult:
    """What a broker's response code means for a send."""
    status = _STATUSES.get(code)
    return AttemptResult.failed("MQBrokerException", code) if status is None else AttemptResult.ok(status)


def route_answered(route: TopicRoute | None, code: int, *, default_topic: bool) -> TopicRoute:
    """The route in a name server's answer; it never knows the stand-in topic. Raises Thrown for any other answer."""
    if code:
        raise Thrown("MQClientException", code)
    if route is None or default_topic:
        raise Thrown("MQClientException", TOPIC_NOT_EXIST)
    return route
