"""Defects are found if the circumstance that would excuse them is missing."""

from dataclasses import replace

import pytest

from tests.analysis.planting import ASYNC, HEALTHY, ONEWAY, PAUSED, PLAIN, Found, change_send, sends_to, signatures
from tests.analysis.synthetic import Told

CALM = 9
"""A send long before the pause."""


def refuse_connection(told: Told, number: int) -> None:
    """Report a refused connection for a stored message."""
    refused = {"error": "RemotingConnectException", "status": None}
    told.attempts = [replace(one, **refused) if one.send == number else one for one in told.attempts]  # type: ignore[arg-type]  # names and values of fields
    given_up = {"error": "MQClientException", "cause": "RemotingConnectException", "status": None, "broker": None}
    change_send(told, number, lambda one: replace(one, **given_up, queue_id=None, queue_offset=None))  # type: ignore[arg-type]  # the same


def test_a_refused_connection_in_calm_excuses_no_copy(found: Found) -> None:
    """A refused connection in calm has no cause; near a fault it may be a retry's."""
    assert signatures(found(ASYNC, lambda told: refuse_connection(told, CALM))) & {
        "outcomes outcomes.failed-without-cause/RemotingConnectException",
    }


def test_a_healthy_broker_refuses_nobody_while_another_is_paused(found: Found) -> None:
    """Another broker's pause is no cause for a connection that a healthy broker refused."""
    seen = signatures(found(ASYNC, lambda told: refuse_connection(told, sends_to(told, HEALTHY, ASYNC)[3])))
    assert "outcomes outcomes.failed-without-cause/RemotingConnectException" in seen


@pytest.mark.parametrize(("release", "is_found"), [("4.6.1", False), ("4.7.1", True)])
def test_a_stopped_broker_acknowledges_nothing_but_another_messages_answer(
    release: str, is_found: bool, found: Found
) -> None:
    """A stopped broker's acknowledgement diverges; up to 4.6.1 it may be another request's answer."""

    def acknowledge(told: Told) -> None:
        number = sends_to(told, PAUSED, ASYNC)[3]
        told.attempts = [
            replace(one, error=None, status="SEND_OK", end_ns=one.start_ns + 5_000_000)
            if one.send == number and one.attempt == 0
            else one
            for one in told.attempts
        ]

    seen = signatures(found(ASYNC, acknowledge, release))
    assert ("outcomes outcomes.acknowledged-by-a-stopped-broker" in seen) is is_found


def test_no_route_where_there_is_one(found: Found) -> None:
    """A send without a route diverges unless its publish list was just emptied."""

    def deny(told: Told) -> None:
        told.attempts = [one for one in told.attempts if one.send != CALM]
        told.stored = [one for one in told.stored if one.send != CALM]
        denied = {"error": "MQClientException", "code": 10_005, "status": None, "broker": None, "queue_id": None}
        change_send(told, CALM, lambda one: replace(one, **denied, queue_offset=None))  # type: ignore[arg-type]  # names and values of fields

    assert "attempts attempts.stopped-early/first" in signatures(found(PLAIN, deny))


def test_a_connection_lost_before_its_own_threads_timeout_is_lost_for_nothing(found: Found) -> None:
    """Another thread's later timeout may explain a lost connection, but not one of the same thread."""

    def lose(told: Told) -> None:
        timed_out = min(one.start_ns for one in told.attempts if one.error == "RemotingTimeoutException")
        before = max((one for one in told.attempts if one.end_ns <= timed_out), key=lambda one: one.end_ns)
        told.attempts = [
            replace(one, error="RemotingSendRequestException", status=None) if one is before else one
            for one in told.attempts
        ]

    seen = signatures(found(PLAIN, lose))
    assert "outcomes outcomes.failed-without-cause/RemotingSendRequestException" in seen


@pytest.mark.parametrize("broker", [HEALTHY, PAUSED])
def test_a_one_way_message_in_two_places(broker: str, found: Found) -> None:
    """One reported one-way request does not explain a second copy elsewhere."""

    def twice(told: Told) -> None:
        copy = next(one for one in told.stored if one.broker == broker)
        told.stored.append(replace(copy, queue_id=(copy.queue_id + 1) % 4, queue_offset=9_000))

    assert "duplication duplication.stored-more-than-attempted" in signatures(found(ONEWAY, twice))
