"""Charges that an asynchronous send reports, and its state."""

import pytest

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.async_send import AsyncSend, Form
from rocketmq_reference.rules.producer.async_steps import CallBack, Invoke
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish
from rocketmq_reference.rules.queue_choice.events import Charged, Event
from tests.reference_impl.rules.sending_async import CALL_TIMEOUT, LOST, dispatched, rethrown, started
from tests.reference_impl.rules.toys import OK, TIMEOUT, Toy


def observed(toy: Toy, form: Form = Form.SELECTED) -> tuple[AsyncSend, Invoke, list[Event]]:
    """Return a send before its hand-over; events of selections are not recorded."""
    events: list[Event] = []
    send = AsyncSend(toy.dialect, toy.settings, toy.faults, form, events.append)
    send.accepted(0, 0)
    step = send.begin(toy.selector, 0) if form is Form.SELECTED else send.begin_at(Queue("a", 3), 0)
    assert isinstance(step, Invoke)
    return send, step, events


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


@pytest.mark.parametrize("error", ["RemotingTimeoutException", "RemotingSendRequestException", "MQBrokerException"])
@pytest.mark.parametrize(("release", "avoid_ms"), [("4.9.2", 600_000), ("5.1.3", 600_000), ("5.3.3", 10_000)])
def test_an_attempt_that_failed_isolates_its_broker(release: str, avoid_ms: int, error: str) -> None:
    """Every failed attempt isolates its broker, which stays reachable."""
    for form in Form:
        send, invoke, events = observed(avoiding(release), form)
        send.ended(invoke, None, 40, AttemptResult.failed(error))
        assert events == [Charged("a", 40, avoid_ms, isolated=True, reachable=True)]


def test_a_request_that_could_not_be_handed_over_is_charged_to_its_own_broker() -> None:
    """From 4.9.3 a failed hand-over isolates its own broker, from 5.1.4 as unreachable."""
    for release, avoid_ms, reachable in (("4.9.3", 600_000, True), ("5.1.4", 10_000, False)):
        send, invoke, events = observed(avoiding(release))
        send.threw(invoke, None, 4, "RemotingConnectException")
        assert events == [Charged("a", 4, avoid_ms, isolated=True, reachable=reachable)]


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


def test_without_fault_latency_nothing_is_charged() -> None:
    """With fault latency off nothing is charged."""
    toy = Toy("5.3.3")
    send, invoke, events = observed(toy)
    send.ended(invoke, toy.thread(), 40, TIMEOUT)
    send.threw(invoke, toy.thread(), 40, "RemotingConnectException")
    send.called_back(CallBack(Finish(Ending.RESULT, 0), broker="a"), 40)
    assert events == []


def test_a_fresh_send_has_done_nothing() -> None:
    """A new send has no attempts, failures, list or observer; the client selects."""
    toy = Toy("5.3.3")
    send = AsyncSend(toy.dialect, toy.settings, toy.faults)
    assert (send.attempts, send.failures, send.info, send.form, send.observer) == (0, 0, None, Form.SELECTED, None)


def test_a_send_is_retried_elsewhere_by_default() -> None:
    """By default a retry goes to another broker."""
    toy = Toy("5.3.3")
    send = AsyncSend(toy.dialect, toy.settings, toy.faults)
    send.accepted(0, 0)
    invoke = send.begin(toy.selector, 0)
    assert isinstance(invoke, Invoke)
    retry = send.ended(invoke, toy.thread(), 200, LOST)
    assert retry == Invoke(1, "b", 0, 2_800, 200, dispatching=False, previous="a")
    assert (send.attempts, send.failures) == (2, 1)


def test_a_send_knows_the_list_it_selected_from() -> None:
    """A send keeps its list for retries in other threads; with a given queue it has none."""
    toy = Toy("5.3.3")
    assert started(toy)[0].info is toy.info
    assert started(toy, Form.GIVEN_QUEUE)[0].info is None


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


def test_a_callback_credits_no_broker_by_default() -> None:
    """By default a callback credits no broker."""
    callback = CallBack(CALL_TIMEOUT)
    assert (callback.broker, callback.since_ms, callback.dispatching) == (None, 0, False)
