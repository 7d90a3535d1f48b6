"""One-way sends."""

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish, Try
from rocketmq_reference.rules.producer.one_way import OneWaySend, one_way_to_queue
from tests.reference_impl.rules.toys import REFUSED, Toy

WRITTEN = AttemptResult()


def one_way(toy: Toy) -> OneWaySend:
    return OneWaySend(toy.dialect, toy.settings, toy.selector)


def test_a_written_request_is_all_there_is() -> None:
    """A written one-way send ends without a status, and tries no other broker for one."""
    toy = Toy("5.3.3", retry_another_broker_when_not_store_ok=True)
    send = one_way(toy)
    assert send.begin(0, 0) == Try(Queue("a", 0), 3_000)
    assert send.attempt_ended(0, WRITTEN) == Finish(Ending.RESULT, 0, None)


def test_a_written_request_counts_as_a_success() -> None:
    """A written request is a success, which to 5.1.3 ends the avoidance even of a paused broker."""
    for release, start_ms in (("5.1.3", 5), ("5.1.4", 10_000)):
        toy = Toy(release, "a1", send_latency_fault_enable=True)
        toy.note("a", 3_000, failed=True)
        send = one_way(toy)
        send.begin(5, 5)
        send.attempt_ended(5, WRITTEN)
        assert toy.faults.items["a"].start_ms == start_ms


def test_a_refused_connection_is_not_retried() -> None:
    """A refused connect (thrown to 5.2.0) is not retried and isolates the broker."""
    toy = Toy("5.2.0", send_latency_fault_enable=True)
    send = one_way(toy)
    send.begin(0, 0)
    assert send.attempt_ended(1, REFUSED) == Finish(
        Ending.GAVE_UP, 0, error="MQClientException", code=10001, cause="RemotingConnectException"
    )
    assert toy.faults.items["a"].start_ms == 10_001


def test_a_slow_route_lookup_uses_up_the_time() -> None:
    """From 4.3.0 a slow route lookup can use up the timeout."""
    assert isinstance(one_way(Toy("4.2.0")).begin(0, 3_001), Try)
    assert one_way(Toy("4.3.0")).begin(0, 3_001) == Finish(Ending.CALL_TIMEOUT, error="RemotingTooMuchRequestException")


def test_a_given_queue_has_the_whole_time() -> None:
    """A one-way send has the whole timeout, without a limit per request."""
    assert one_way_to_queue(Queue("b", 1), 3_000) == Try(Queue("b", 1), 3_000)
    toy = Toy("5.3.3", send_msg_max_timeout_per_request_ms=100)
    assert one_way(toy).begin(0, 0) == Try(Queue("a", 0), 3_000)
