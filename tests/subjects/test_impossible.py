"""Impossible times and too many records, each with its signature."""

import pytest

from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import CalledBackAgain, RouteSeen, Send
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.subjects.conversation import Conversation
from rocketdiff.subjects.sending.limits import SendBounds, output_bounds_of, send_bounds_of
from tests.subjects.conversing import (
    MS,
    NOW,
    START,
    attempt,
    called_back,
    hello,
    plan_of,
    running,
    sent,
    talk_of,
    violation,
)

HOUR_NS = 3_600 * 10**9


def asynchronous() -> Conversation:
    """One answered asynchronous send."""
    conversation = Conversation(running((0, 0))._subject)
    conversation.take(hello(), 0)
    conversation.prepare(talk_of(Plan(1, 1, (PlannedSend(0, 0, 0, SendKind.PLAIN, 0, 1, SendMode.ASYNC),))))
    conversation.go(START)
    conversation.take(called_back(0), NOW)
    return conversation


@pytest.mark.parametrize(
    "record",
    [
        attempt(0, at=NOW + 2 * MS),
        attempt(0, took=HOUR_NS),
        sent(0, at=NOW + HOUR_NS),
        Send(0, 0, START, 2**63 - 1, status="SEND_OK"),
        Send(0, 0, START, START, status="SEND_OK", returned_ns=2**62),
        Send(0, 0, START, START, status="SEND_OK", returned_ns=START - 1),
        RouteSeen(1, -(2**62), (("broker-a", 0),)),
        RouteSeen(1, NOW + HOUR_NS, (("broker-a", 0),)),
    ],
    ids=[
        "starts ahead",
        "ends ahead",
        "an hour ahead",
        "year 2262",
        "returns ahead",
        "returned before",
        "past",
        "ahead",
    ],
)
def test_no_record_is_of_another_time(record: Record) -> None:
    """Record times are neither in the future nor before go, because both processes read one clock."""
    assert violation(running((0, 0)), record) == "protocol.impossible-times"


@pytest.mark.parametrize("at_ns", [START - 2 * MS, NOW + 2 * MS, 2**63 - 1, -(2**62)])
def test_a_callback_is_of_this_run_too(at_ns: int) -> None:
    """A callback's time is neither before its send nor in the future."""
    again = CalledBackAgain(0, 0, at_ns, status="SEND_OK")
    assert violation(asynchronous(), again) == "protocol.impossible-times"


def test_a_clock_of_whole_milliseconds_that_rounds_up_is_accepted() -> None:
    """A time up to 1 ms ahead is accepted: a clock may round up."""
    running((0, 0)).take(sent(0, at=NOW + MS - 1), NOW)


QUEUES = tuple(("broker-a", queue) for queue in range(130_000))


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([attempt(0, number) for number in range(29)], id="attempts"),
        pytest.param([RouteSeen(number, START, QUEUES) for number in (1, 2)], id="queues"),
    ],
)
def test_records_without_end_are_too_much(records: list[Record]) -> None:
    """29 attempts, over 4 × 3 + 16 with two retries, and 250,000 queues in all routes are too-much."""
    assert violation(running((0, 0)), *records) == "protocol.too-much"


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([CalledBackAgain(0, 0, START, "E")] * 29, id="callbacks"),
        pytest.param([attempt(0, number) for number in range(29)], id="attempts"),
    ],
)
def test_records_after_an_asynchronous_answer_are_bounded(records: list[Record]) -> None:
    """Endless callbacks and attempts after an asynchronous answer are too-much, so they do not fill the memory."""
    assert violation(asynchronous(), *records) == "protocol.too-much"


def test_routes_without_end_are_too_much() -> None:
    """Routes above their bound are too-much."""
    talk = Conversation(running((0, 0))._subject)
    talk.take(hello(), 0)
    talk.prepare(talk_of(plan_of((0, 0)), SendBounds(routes=3)))
    routes = [RouteSeen(number, START, (("broker-a", 0),)) for number in range(1, 5)]
    assert violation(talk, *routes) == "protocol.too-much"


def test_bounds_grow_with_plan_and_settings() -> None:
    """Ten retries bound attempts to (1 + 10) * 4 + 16; 100 sends of 13 records of 1 KiB add to 32 MiB."""
    plan = plan_of(*[(0, 0)] * 100)
    settings = ClientSettings(retry_times_when_send_failed=10)
    bounds = send_bounds_of(plan, settings)
    assert (bounds.attempts_a_send, bounds.routes) == (60, 1_200)
    assert output_bounds_of(plan, settings).output_bytes == 32 * 2**20 + 100 * 13 * 1_024
