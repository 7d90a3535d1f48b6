"""Asynchronous sends: retries, charged brokers, callbacks."""

import pytest

from rocketmq_reference.rules.producer.async_send import Form
from rocketmq_reference.rules.producer.async_steps import CallBack, Invoke, Throw
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish
from tests.reference_impl.rules.sending_async import (
    LOST,
    TOO_MUCH,
    dispatched,
    gave_up,
    rethrown,
    started,
)
from tests.reference_impl.rules.toys import OK, REFUSED, TIMEOUT, Toy

TIMED_OUT_MS = 4_000
"""When the scan ends a request with a timeout of 3 s."""

EVERY = ("4.0.0-incubating", "4.2.0", "4.3.0", "4.4.0", "4.7.0", "4.9.3", "5.1.4", "5.2.0", "5.3.0", "5.3.2", "5.5.0")


@pytest.mark.parametrize("release", EVERY)
def test_an_answer_is_called_back(release: str) -> None:
    """Every status is called back; no other broker is tried for one other than SEND_OK."""
    toy = Toy(release, retry_another_broker_when_not_store_ok=True)
    send, invoke = dispatched(toy)
    assert (invoke.broker, invoke.queue_id, invoke.timeout_ms) == ("a", 0, 3_000)
    step = send.ended(invoke, toy.thread(), 7, AttemptResult.ok("SLAVE_NOT_AVAILABLE"))
    assert isinstance(step, CallBack) and step.finish == Finish(Ending.RESULT, 0, "SLAVE_NOT_AVAILABLE")


def test_the_callback_counts_as_the_brokers_time() -> None:
    """The latency includes the callback; before that only the hand-over is recorded, as 0 ms."""
    toy = Toy("5.3.3", send_latency_fault_enable=True)
    send, invoke = dispatched(toy)
    assert toy.faults.items["a"].latency_ms == 0
    step = send.ended(invoke, None, 7, OK)
    assert isinstance(step, CallBack)
    send.called_back(step, 1_007)
    assert (toy.faults.items["a"].latency_ms, toy.faults.items["a"].start_ms) == (1_007, 1_007 + 2_000)


def test_to_5_1_4_the_latency_begins_with_the_writing() -> None:
    """The latency begins at the write to 5.1.4, at the call from 5.2.0; connecting took 600 ms here."""
    for release, latency_ms in (("5.1.4", 100), ("5.2.0", 700)):
        toy = Toy(release, send_latency_fault_enable=True)
        send, invoke = dispatched(toy)
        step = send.ended(invoke, None, 700, OK, written_ms=600)
        assert isinstance(step, CallBack)
        send.called_back(step, 700)
        assert toy.faults.items["a"].latency_ms == latency_ms


@pytest.mark.parametrize("release", EVERY)
def test_an_error_of_the_broker_is_never_retried(release: str) -> None:
    """A broker's error is never retried; it isolates the broker, which stays reachable."""
    toy = Toy(release, send_latency_fault_enable=True)
    send, invoke = dispatched(toy)
    step = send.ended(invoke, toy.thread(), 5, AttemptResult.failed("MQBrokerException", 1))
    assert step == CallBack(rethrown(0, "MQBrokerException", 1))
    item = toy.faults.items["a"]
    assert (item.start_ms, item.reachable) == (5 + toy.dialect.producer.avoidance_ms(5, True), True)


def test_an_answer_without_a_header_is_never_retried() -> None:
    """To 4.6.1 a retry can get a heartbeat's answer, whose missing header is a NullPointerException for the callback."""
    toy = Toy("4.6.1")
    send, invoke = dispatched(toy)
    step = send.ended(invoke, toy.thread(), 5, AttemptResult.failed("NullPointerException"))
    assert step == CallBack(rethrown(0, "NullPointerException"))


@pytest.mark.parametrize(
    ("release", "timeout"),
    [("4.0.0-incubating", 0), ("4.6.1", 0), ("4.7.0", -1_000), ("5.2.0", -1_000), ("5.3.1", -1_000)],
)
def test_the_time_of_a_retry_after_a_timeout(release: str, timeout: int) -> None:
    """A retry after a timeout has 0 ms to 4.6.1, enough until the next scan, and a negative time from 4.7.0."""
    toy = Toy(release)
    send, invoke = dispatched(toy)
    step = send.ended(invoke, toy.thread(), TIMED_OUT_MS, TIMEOUT)
    assert step == Invoke(1, "b", 0, timeout, TIMED_OUT_MS, dispatching=False, previous="a")


def test_from_5_3_2_nothing_is_retried_without_time() -> None:
    """From 5.3.2 a timeout calls back once with the real cause and charges only its broker."""
    toy = Toy("5.3.2", send_latency_fault_enable=True)
    send, invoke = dispatched(toy)
    step = send.ended(invoke, toy.thread(), TIMED_OUT_MS, TIMEOUT)
    assert step == CallBack(gave_up(0, "RemotingTimeoutException"))
    assert list(toy.faults.items) == ["a"]


@pytest.mark.parametrize(
    ("release", "cause"),
    [("4.2.0", None), ("5.1.4", None), ("5.2.0", "CompletionException"), ("5.3.2", "RemotingSendRequestException")],
)
def test_what_the_callback_learns_of_a_lost_connection(release: str, cause: str | None) -> None:
    """A lost connection is MQClientException without code; a cause exists from 5.2.0, the real one from 5.3.2."""
    toy = Toy(release, retry_times_when_send_async_failed=0)
    send, invoke = dispatched(toy)
    assert send.ended(invoke, toy.thread(), 5, LOST) == CallBack(gave_up(0, cause))


def test_a_lost_connection_leaves_time_for_a_retry() -> None:
    """A retry after a lost connection has the rest of the timeout from 4.7.0, before that 0 ms."""
    for release, left in (("4.6.1", 0), ("4.7.0", 2_800), ("5.5.0", 2_800)):
        toy = Toy(release)
        send, invoke = dispatched(toy)
        step = send.ended(invoke, toy.thread(), 200, LOST)
        assert isinstance(step, Invoke) and (step.broker, step.timeout_ms) == ("b", left)


def test_a_retry_keeps_the_queue_and_counts_with_the_thread_it_happens_in() -> None:
    """A retry keeps the queue id, takes the broker from its thread's counter, and restarts no counter."""
    toy = Toy("5.3.3", "a4 b4 c4", index=1)
    send, invoke = dispatched(toy)
    elsewhere = toy.thread(index=7)
    step = send.ended(invoke, elsewhere, 5, LOST)
    assert isinstance(step, Invoke) and (invoke.queue_id, step.broker, step.queue_id) == (2, "c", 2)
    assert (toy.index.value, elsewhere.index.value) == (2, 8)


@pytest.mark.parametrize(("release", "told"), [("4.0.0-incubating", Throw), ("4.2.0", Throw), ("4.3.0", CallBack)])
def test_a_refused_first_attempt_to_4_9_2(release: str, told: type[Throw | CallBack]) -> None:
    """To 4.9.2 a refused first attempt ends the send and isolates the broker; from 4.3.0 it calls back."""
    toy = Toy(release, send_latency_fault_enable=True)
    send, invoke = started(toy)
    step = send.threw(invoke, toy.selector, 1, "RemotingConnectException")
    assert step == told(gave_up(0, "RemotingConnectException", 10001))
    assert toy.faults.items["a"].start_ms == 600_001


@pytest.mark.parametrize(
    ("release", "isolated"), [("4.9.3", False), ("5.1.3", False), ("5.1.4", True), ("5.2.0", True)]
)
def test_a_refused_first_attempt_from_4_9_3(release: str, isolated: bool) -> None:
    """
    From 4.9.3 a refused first attempt is retried elsewhere, in its thread.

    The call's return then counts as a success of the refusing broker, which only to 5.1.3 ends the avoidance.
    """
    toy = Toy(release, index=3, send_latency_fault_enable=True)
    send, invoke = started(toy)
    assert invoke.broker == "b"
    step = send.threw(invoke, toy.selector, 1, "RemotingConnectException")
    assert isinstance(step, Invoke) and (step.broker, step.timeout_ms, step.dispatching) == ("a", 2_999, True)
    assert not toy.faults.is_available("b", 1)
    assert toy.faults.items["b"].reachable is (release < "5.1.4")
    send.returned(step, 1)
    assert toy.faults.is_available("b", 1) is not isolated
    assert toy.faults.items["b"].reachable


def test_a_connection_refused_in_the_background() -> None:
    """From 5.3.0 a refused connect comes after the recorded hand-over; the callback gets its cause unwrapped."""
    toy = Toy("5.3.0", send_latency_fault_enable=True, retry_times_when_send_async_failed=1)
    send, invoke = dispatched(toy)
    step = send.ended(invoke, toy.thread(), 0, REFUSED, direct=True)
    assert isinstance(step, Invoke) and (step.broker, step.timeout_ms, step.dispatching) == ("b", 3_000, False)
    assert not toy.faults.is_available("a", 0)
    assert send.ended(step, toy.thread(), 0, REFUSED, direct=True) == CallBack(gave_up(1, "RemotingConnectException"))


def test_to_4_9_2_a_retry_that_is_refused_is_charged_to_the_broker_before_it() -> None:
    """To 4.9.2 a refused retry charges the previous broker with 3 s; the last exception arrives unchanged."""
    toy = Toy("4.9.2", send_latency_fault_enable=True)
    send, invoke = dispatched(toy)
    retry = send.ended(invoke, toy.thread(), 10, LOST)
    assert isinstance(retry, Invoke) and retry.broker == "b"
    again = send.threw(retry, toy.thread(4), 20, "RemotingConnectException")
    assert isinstance(again, Invoke) and (again.broker, again.previous, again.timeout_ms) == ("b", "b", 2_990)
    assert (toy.faults.items["a"].latency_ms, toy.faults.items["a"].start_ms) == (3_000, 600_020)
    assert "b" not in toy.faults.items
    assert send.threw(again, toy.thread(), 30, "RemotingConnectException") == CallBack(
        rethrown(2, "RemotingConnectException")
    )
    assert toy.faults.items["b"].latency_ms == 3_000


def test_from_4_7_0_to_4_9_2_a_retry_without_time_ends_the_send() -> None:
    """From 4.7.0 to 4.9.2 a retry without time left ends the send and charges no broker."""
    toy = Toy("4.7.1", send_latency_fault_enable=True)
    send, invoke = dispatched(toy)
    retry = send.ended(invoke, toy.thread(), TIMED_OUT_MS, TIMEOUT)
    assert isinstance(retry, Invoke)
    step = send.threw(retry, toy.thread(), TIMED_OUT_MS, "RemotingTooMuchRequestException")
    assert step == CallBack(rethrown(1, "RemotingTooMuchRequestException"))
    assert list(toy.faults.items) == ["a"]


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


def test_in_5_3_0_more_retries_mean_more_callbacks() -> None:
    """In 5.3.0 with three retries, the second failure of a late retry is retried again."""
    toy = Toy("5.3.0", retry_times_when_send_async_failed=3)
    send, invoke = dispatched(toy)
    retry = send.ended(invoke, toy.thread(), TIMED_OUT_MS, TIMEOUT)
    assert isinstance(retry, Invoke)
    assert isinstance(send.ended(retry, toy.thread(), TIMED_OUT_MS, TOO_MUCH, direct=True), CallBack)
    assert isinstance(send.ended(retry, toy.thread(), TIMED_OUT_MS, TIMEOUT), Invoke)


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


def test_a_given_queue_is_not_credited_with_its_dispatch() -> None:
    """The hand-over to a given queue is not recorded, because the client did not select it."""
    toy = Toy("5.3.3", send_latency_fault_enable=True)
    dispatched(toy, Form.GIVEN_QUEUE)
    assert not toy.faults.items


def test_a_given_queue_that_is_refused_at_first() -> None:
    """To 4.9.2 the exception of a refused send to a given queue is not wrapped; from 4.9.3 its broker is retried."""
    for release, told in (("4.2.0", Throw), ("4.9.2", CallBack)):
        send, invoke = started(Toy(release), Form.GIVEN_QUEUE)
        step = send.threw(invoke, None, 1, "RemotingConnectException")
        assert step == told(rethrown(0, "RemotingConnectException"))
    send, invoke = started(Toy("4.9.3"), Form.GIVEN_QUEUE)
    step = send.threw(invoke, None, 1, "RemotingConnectException")
    assert step == Invoke(1, "a", 3, 2_999, 1, dispatching=True, previous="a")
