"""Asynchronous sends before their first request."""

import pytest

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.async_send import AsyncSend, Form
from rocketmq_reference.rules.producer.async_steps import CallBack, Invoke
from tests.reference_impl.rules.sending_async import (
    CALL_TIMEOUT,
    LOST,
    dispatched,
    gave_up,
    started,
)
from tests.reference_impl.rules.toys import Toy


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


def test_the_route_lookup_costs_time() -> None:
    """A route lookup counts against the timeout; a given queue needs none."""
    for form, left in ((Form.SELECTED, 2_500), (Form.SELECTOR, 2_500), (Form.GIVEN_QUEUE, 3_000)):
        toy = Toy("5.3.3")
        send = AsyncSend(toy.dialect, toy.settings, toy.faults, form)
        send.accepted(0, 0)
        step = send.begin(toy.selector, 500) if form is Form.SELECTED else send.begin_at(Queue("a", 0), 500)
        assert isinstance(step, Invoke) and step.timeout_ms == left


def test_looking_for_an_address_costs_time() -> None:
    """From 4.3.0 the address lookup counts against the timeout; if it exceeds it, the broker is avoided."""
    send, invoke = started(Toy("4.2.0"))
    assert send.addressed(invoke, 4_000, known=True) == Invoke(0, "a", 0, 3_000, 4_000, True, vip=True)
    toy = Toy("5.3.3", send_latency_fault_enable=True)
    send, invoke = started(toy)
    assert send.addressed(invoke, 1_000, known=True) == Invoke(0, "a", 0, 2_000, 1_000, True)
    assert send.addressed(invoke, 3_001, known=True) == CallBack(gave_up(0, "RemotingTooMuchRequestException"))
    assert not toy.faults.is_available("a", 3_001)


def test_only_first_attempts_use_the_vip_channel() -> None:
    """Only first attempts use the VIP channel, by default or if switched on."""
    for toy in (Toy("4.5.0"), Toy("5.3.3", vip_channel_enabled=True)):
        send, invoke = dispatched(toy)
        retry = send.ended(invoke, toy.thread(), 5, LOST)
        assert invoke.vip and isinstance(retry, Invoke) and not retry.vip
    assert not started(Toy("4.5.0", vip_channel_enabled=False))[1].vip
