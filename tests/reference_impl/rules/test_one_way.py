"""One-way sends."""

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish, Try
from rocketmq_reference.rules.producer.one_way import OneWaySend, one_way_to_queue
from tests.reference_impl.rules.toys import Toy

WRITTEN = AttemptResult()


def one_way(toy: Toy) -> OneWaySend:
    return OneWaySend(toy.dialect, toy.settings, toy.selector)


def test_a_slow_route_lookup_uses_up_the_time() -> None:
    """From 4.3.0 a slow route lookup can use up the timeout."""
    assert isinstance(one_way(Toy("4.2.0")).begin(0, 3_001), Try)
    assert one_way(Toy("4.3.0")).begin(0, 3_001) == Finish(Ending.CALL_TIMEOUT, error="RemotingTooMuchRequestException")


def test_a_given_queue_has_the_whole_time() -> None:
    """A one-way send has the whole timeout, without a limit per request."""
    assert one_way_to_queue(Queue("b", 1), 3_000) == Try(Queue("b", 1), 3_000)
    toy = Toy("5.3.3", send_msg_max_timeout_per_request_ms=100)
    assert one_way(toy).begin(0, 0) == Try(Queue("a", 0), 3_000)
