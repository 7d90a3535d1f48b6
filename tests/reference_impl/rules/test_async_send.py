"""Asynchronous sends: first requests, retries, charges and callbacks."""

import pytest

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.async_send import AsyncSend, Form
from rocketmq_reference.rules.producer.async_steps import CallBack, Invoke
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish
from rocketmq_reference.rules.queue_choice.events import Charged, Event, Observer
from tests.reference_impl.rules.toys import OK, TIMEOUT, Toy

LOST = AttemptResult.failed("RemotingSendRequestException")
CALL_TIMEOUT = Finish(Ending.CALL_TIMEOUT, error="RemotingTooMuchRequestException")


def started(toy: Toy, form: Form = Form.SELECTED, observer: Observer | None = None) -> tuple[AsyncSend, Invoke]:
    """Return a send and its first request before the hand-over to remoting."""
    send = AsyncSend(toy.dialect, toy.settings, toy.faults, form, observer)
    assert send.accepted(0, 0) is None
    step = send.begin(toy.selector, 0) if form is Form.SELECTED else send.begin_at(Queue("a", 3), 0)
    assert isinstance(step, Invoke)
    return send, step


def dispatched(toy: Toy, form: Form = Form.SELECTED) -> tuple[AsyncSend, Invoke]:
    """The same after the hand-over."""
    send, invoke = started(toy, form)
    send.returned(invoke, 0)
    return send, invoke


def rethrown(attempt: int, error: str, code: int | None = None) -> Finish:
    return Finish(Ending.RETHROWN, attempt, error=error, code=code)


TIMED_OUT_MS = 4_000
"""When the scan ends a request with a timeout of 3 s."""


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


@pytest.mark.parametrize("form", Form)
def test_waiting_for_the_thread_costs_time(form: Form) -> None:
    """From 4.3.0 waiting for a thread counts against the timeout; using up exactly all of it fails."""
    for release, waited, left in (("4.2.0", 3_000, 3_000), ("4.3.0", 1_000, 2_000), ("5.5.0", 2_999, 1)):
        toy = Toy(release)
        send = AsyncSend(toy.dialect, toy.settings, toy.faults, form)
        assert send.accepted(0, waited) is None
        step = send.begin(toy.selector, waited) if form is Form.SELECTED else send.begin_at(Queue("a", 0), waited)
        assert isinstance(step, Invoke) and step.timeout_ms == left
    toy = Toy("4.3.0")
    assert AsyncSend(toy.dialect, toy.settings, toy.faults, form).accepted(0, 3_000) == CallBack(CALL_TIMEOUT)


def test_looking_for_an_address_costs_time() -> None:
    """From 4.3.0 the address lookup counts against the timeout; if it exceeds it, the broker is avoided."""
    send, invoke = started(Toy("4.2.0"))
    assert send.addressed(invoke, 4_000, known=True) == Invoke(0, "a", 0, 3_000, 4_000, True, vip=True)
    toy = Toy("5.3.3", send_latency_fault_enable=True)
    send, invoke = started(toy)
    assert send.addressed(invoke, 1_000, known=True) == Invoke(0, "a", 0, 2_000, 1_000, True)
    gave_up = Finish(Ending.GAVE_UP, 0, error="MQClientException", cause="RemotingTooMuchRequestException")
    assert send.addressed(invoke, 3_001, known=True) == CallBack(gave_up)
    assert not toy.faults.is_available("a", 3_001)


def observed(toy: Toy, form: Form = Form.SELECTED) -> tuple[AsyncSend, Invoke, list[Event]]:
    """Return a send before its hand-over; events of selections are not recorded."""
    events: list[Event] = []
    return *started(toy, form, events.append), events


def avoiding(release: str) -> Toy:
    return Toy(release, send_latency_fault_enable=True)


def test_an_answer_is_charged_when_the_callback_is_back() -> None:
    """An answer is charged when the callback has returned: 1,007 ms cost 2 s without isolation."""
    send, invoke, events = observed(avoiding("5.3.3"))
    send.returned(invoke, 0)
    step = send.ended(invoke, None, 7, OK)
    assert isinstance(step, CallBack) and events == []
    send.called_back(step, 1_007)
    assert events == [Charged("a", 1_007, 2_000, isolated=False, reachable=True)]


def test_to_4_9_2_a_retry_is_charged_to_the_broker_before_it_with_three_seconds() -> None:
    """To 4.9.2 a failed retry charges the previous broker with 3 s instead of 5 ms, and not its own."""
    toy = avoiding("4.9.2")
    send, invoke, events = observed(toy)
    retry = send.ended(invoke, toy.thread(), 10, LOST)
    assert isinstance(retry, Invoke) and retry.broker == "b"
    send.threw(retry, toy.thread(4), 15, "RemotingConnectException")
    assert events == [
        Charged("a", 10, 600_000, isolated=True, reachable=True),
        Charged("a", 3_000, 600_000, isolated=True, reachable=True),
    ]


@pytest.mark.parametrize(
    "error", ["RemotingTooMuchRequestException", "MQClientException", "InterruptedException", "IllegalStateException"]
)
def test_to_4_9_2_only_a_remoting_error_of_a_retry_is_retried(error: str) -> None:
    """To 4.9.2 any other error of a retry ends the send unchanged, without a charge (A1–A5 of producer-behaviour 3.8)."""
    toy = avoiding("4.9.2")
    send, invoke, events = observed(toy)
    retry = send.ended(invoke, toy.thread(), 10, LOST)
    assert isinstance(retry, Invoke)
    events.clear()
    assert send.threw(retry, toy.thread(), 20, error) == CallBack(rethrown(1, error))
    assert events == []


def test_a_fresh_send_has_done_nothing() -> None:
    """A new send has no attempts, failures, list or observer; the client selects."""
    toy = Toy("5.3.3")
    send = AsyncSend(toy.dialect, toy.settings, toy.faults)
    assert (send.attempts, send.failures, send.info, send.form, send.observer) == (0, 0, None, Form.SELECTED, None)


def test_without_a_selector_a_retry_stays_at_its_broker() -> None:
    """Without a selector a retry stays at its broker (onExceptionImpl without a topicPublishInfo)."""
    send, invoke = dispatched(Toy("5.3.3"))
    step = send.ended(invoke, None, 200, LOST)
    assert step == Invoke(1, "a", 0, 2_800, 200, dispatching=False, previous="a")


def test_a_lookup_that_took_all_the_time_is_called_back() -> None:
    """A route lookup of 3,001 of 3,000 ms calls back without an attempt."""
    for form in (Form.SELECTED, Form.SELECTOR):
        toy = Toy("5.3.3")
        send = AsyncSend(toy.dialect, toy.settings, toy.faults, form)
        send.accepted(0, 0)
        step = send.begin(toy.selector, 3_001) if form is Form.SELECTED else send.begin_at(Queue("a", 0), 3_001)
        assert (step, send.attempts) == (CallBack(CALL_TIMEOUT), 0)


def test_a_send_that_waited_for_nothing_began_at_the_zero_of_its_clock() -> None:
    """Without ``accepted`` the send begins at 0 ms, so a lookup of 500 ms leaves 2,500."""
    toy = Toy("5.3.3")
    step = AsyncSend(toy.dialect, toy.settings, toy.faults).begin(toy.selector, 500)
    assert isinstance(step, Invoke) and step.timeout_ms == 2_500
    step = AsyncSend(toy.dialect, toy.settings, toy.faults, Form.SELECTOR).begin_at(Queue("a", 0), 500)
    assert isinstance(step, Invoke) and step.timeout_ms == 2_500
