"""Asynchronous sends: retries, charged brokers, callbacks."""

import pytest

from rocketmq_reference.rules.producer.async_send import Form
from rocketmq_reference.rules.producer.async_steps import CallBack, Invoke
from tests.reference_impl.rules.sending_async import (
    LOST,
    TOO_MUCH,
    dispatched,
    gave_up,
    rethrown,
)
from tests.reference_impl.rules.toys import OK, TIMEOUT, Toy

TIMED_OUT_MS = 4_000
"""When the scan ends a request with a timeout of 3 s."""


def test_to_5_1_4_the_latency_begins_with_the_writing() -> None:
    """The latency begins at the write to 5.1.4, at the call from 5.2.0; connecting took 600 ms here."""
    for release, latency_ms in (("5.1.4", 100), ("5.2.0", 700)):
        toy = Toy(release, send_latency_fault_enable=True)
        send, invoke = dispatched(toy)
        step = send.ended(invoke, None, 700, OK, written_ms=600)
        assert isinstance(step, CallBack)
        send.called_back(step, 700)
        assert toy.faults.items["a"].latency_ms == latency_ms


def test_a_retry_keeps_the_queue_and_counts_with_the_thread_it_happens_in() -> None:
    """A retry keeps the queue id, takes the broker from its thread's counter, and restarts no counter."""
    toy = Toy("5.3.3", "a4 b4 c4", index=1)
    send, invoke = dispatched(toy)
    elsewhere = toy.thread(index=7)
    step = send.ended(invoke, elsewhere, 5, LOST)
    assert isinstance(step, Invoke) and (invoke.queue_id, step.broker, step.queue_id) == (2, "c", 2)
    assert (toy.index.value, elsewhere.index.value) == (2, 8)


@pytest.mark.parametrize(
    ("release", "reachable"), [("4.9.3", True), ("5.1.3", True), ("5.1.4", False), ("5.2.0", False)]
)
def test_from_4_9_3_to_5_2_0_retries_without_time_isolate_healthy_brokers(release: str, reachable: bool) -> None:
    """K09: from 4.9.3 to 5.2.0 each retry without time left isolates its broker, from 5.1.4 as unreachable."""
    toy = Toy(release, "a4 b4 c4", send_latency_fault_enable=True, draws=[0, 0])
    send, invoke = dispatched(toy)
    step = send.ended(invoke, toy.thread(3), TIMED_OUT_MS, TIMEOUT)
    charged = []
    while isinstance(step, Invoke):
        charged.append(step.broker)
        step = send.threw(step, toy.thread(3 + 4 * len(charged)), TIMED_OUT_MS, "RemotingTooMuchRequestException")
    assert step == CallBack(rethrown(2, "RemotingTooMuchRequestException"))
    assert charged == ["b", "c"]
    assert [toy.faults.items[broker].reachable for broker in charged] == [reachable, reachable]
    assert not any(toy.faults.is_available(broker, TIMED_OUT_MS) for broker in "abc")


def test_in_5_3_0_a_retry_without_time_calls_back_twice() -> None:
    """K16: in 5.3.0 a retry without time left fails, is sent all the same, and calls back again."""
    toy = Toy("5.3.0")
    send, invoke = dispatched(toy)
    retry = send.ended(invoke, toy.thread(), TIMED_OUT_MS, TIMEOUT)
    assert isinstance(retry, Invoke)
    send.returned(retry, TIMED_OUT_MS)
    first = send.ended(retry, toy.thread(), TIMED_OUT_MS, TOO_MUCH, direct=True)
    second = send.ended(retry, toy.thread(), TIMED_OUT_MS, TIMEOUT)
    assert first == CallBack(gave_up(1, "RemotingTooMuchRequestException"))
    assert second == CallBack(gave_up(1, "CompletionException"))


def test_a_given_queue_is_retried_at_its_broker() -> None:
    """A given queue is retried at its broker; 4.0.0 charges the broker but never calls back. No counter moves."""
    for release in ("4.0.0-incubating", "4.1.0-incubating"):
        toy = Toy(release, send_latency_fault_enable=True)
        send, invoke = dispatched(toy, Form.GIVEN_QUEUE)
        step = send.ended(invoke, None, TIMED_OUT_MS, TIMEOUT)
        expected = None if release.startswith("4.0") else Invoke(1, "a", 3, 0, TIMED_OUT_MS, False, previous="a")
        assert step == expected
        assert not toy.faults.is_available("a", TIMED_OUT_MS)
        assert toy.index.value == -1
