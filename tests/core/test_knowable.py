"""What is known of a case, by how it sends."""

from dataclasses import replace

import pytest

from rocketdiff.core.sends.knowable import Sending, unanswerable, unknowable, unknown
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.checks import Aspect

SYNC = Sending(SendMode.SYNC, SendKind.PLAIN, fault_latency=True, is_delayed=True, loses_a_broker=True)
ASYNC = replace(SYNC, mode=SendMode.ASYNC)


@pytest.mark.parametrize("aspect", Aspect)
@pytest.mark.parametrize("mode", [SendMode.SYNC, SendMode.ONEWAY])
def test_everything_is_known_of_calls_made_by_the_applications_threads(aspect: Aspect, mode: SendMode) -> None:
    """Everything is known of sync and one-way sends, which choose in the application's own thread."""
    assert unknown(aspect, replace(SYNC, mode=mode)) == ""


def test_callbacks_hide_the_fault_table() -> None:
    """With fault latency an async send's first queue is unknown, because callbacks write the fault table."""
    assert "callbacks write the fault table" in unknown(Aspect.FIRST_QUEUE, ASYNC)
    assert unknown(Aspect.FIRST_QUEUE, replace(ASYNC, fault_latency=False)) == ""
    assert unknown(Aspect.END, ASYNC) == ""


def test_the_wire_does_not_show_the_choosing_thread() -> None:
    """The wire does not show which of the client's threads chose a queue, and each has its own counter."""
    unseen = replace(ASYNC, fault_latency=False, is_chooser_unseen=True)
    assert "which of the client's threads" in unknown(Aspect.FIRST_QUEUE, unseen)


def test_a_queue_the_application_named_is_known() -> None:
    """Of a send to a given queue everything is known."""
    named = replace(ASYNC, call=SendKind.QUEUE, is_chooser_unseen=True)
    assert not any(unknown(aspect, named) for aspect in Aspect)


def test_only_queue_choice_cannot_be_answered_of_async_with_fault_latency() -> None:
    """Of an async case with fault latency only ``queue-choice`` cannot be answered."""
    assert list(unknowable(ASYNC)) == ["queue-choice"]
    assert unknowable(SYNC) == {}


@pytest.mark.parametrize(
    ("check", "sending", "obstacle"),
    [
        ("queue-choice", ASYNC, "mode: async with send_latency_fault_enable"),
        ("avoidance", replace(SYNC, fault_latency=False), "send_latency_fault_enable is false"),
        ("avoidance", replace(SYNC, call=SendKind.SELECTOR), "call: selector"),
        ("avoidance", replace(SYNC, mode=SendMode.ONEWAY), "mode: oneway"),
        ("failover-time", replace(SYNC, loses_a_broker=False), "no broker that is paused or killed"),
        ("timing", ASYNC, "mode: async"),
        ("order", SYNC, "call: plain"),
        ("callbacks", SYNC, "mode: sync"),
        ("delay", replace(SYNC, is_delayed=False), "no delay_level"),
    ],
)
def test_the_obstacle_to_a_check_is_named(check: str, sending: Sending, obstacle: str) -> None:
    """The obstacle to a check is named in the words of the file."""
    assert obstacle in unanswerable(check, sending)


@pytest.mark.parametrize(
    "check", ["queue-choice", "attempts", "avoidance", "error-kind", "timing", "failover-time", "delay"]
)
def test_nothing_stands_against_a_check_that_can_be_seen(check: str) -> None:
    """A sync delayed send with fault latency beside a paused broker can answer all these checks."""
    assert unanswerable(check, SYNC) == ""
