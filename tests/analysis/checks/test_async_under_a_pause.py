"""Defects of asynchronous sends beside a pause are found, unless the release has them too."""

from dataclasses import replace

import pytest

from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.records.sending import NEVER_CALLED_BACK, CalledBackAgain, Send
from tests.analysis.planting import ASYNC, HEALTHY, PAUSED, Found, change_send, go_elsewhere, sends_to, signatures
from tests.analysis.synthetic import MS, Change, Told


@pytest.mark.parametrize("broker", [HEALTHY, PAUSED])
def test_a_callback_lost_in_a_pause(broker: str, found: Found) -> None:
    """From 4.7.0 on no callback may be missing, whether the message was acknowledged or failed."""

    def lose(told: Told) -> None:
        number = sends_to(told, broker, ASYNC)[3]
        change_send(told, number, never_called_back)

    assert signatures(found(ASYNC, lose)) == {"callbacks callbacks.never-called"}


def never_called_back(one: Send) -> Send:
    nothing = replace(one, error=NEVER_CALLED_BACK, cause=None, code=None, status=None, broker=None)
    return replace(nothing, queue_id=None, queue_offset=None, end_ns=one.start_ns + 12_000 * MS)


def test_many_callbacks_lost_in_a_pause_are_not_cleared_where_some_may_be(found: Found) -> None:
    """Up to 4.6.1 confused answers excuse 3 missing callbacks; many leave the check indecisive."""

    def lose(many: int) -> Change:
        def change(told: Told) -> None:
            for number in sends_to(told, HEALTHY, ASYNC)[:many]:
                change_send(told, number, never_called_back)

        return change

    few, many = (found(ASYNC, lose(number), "4.6.1")["callbacks"] for number in (3, 25))
    assert (few.divergences, few.standing) == ((), Standing.DECISIVE)
    assert (many.divergences, many.standing) == ((), Standing.INDECISIVE)


@pytest.mark.parametrize("release", ["4.6.1", "5.3.3"])
def test_a_callback_called_twice_in_a_pause(release: str, found: Found) -> None:
    """A second callback diverges in every release: confused answers cause none."""

    def twice(told: Told) -> None:
        number = sends_to(told, HEALTHY, ASYNC)[3]
        end_ns = next(one.end_ns for one in told.sends if one.send == number)
        told.again.append(CalledBackAgain(number, 0, end_ns + MS, status="SEND_OK"))

    assert signatures(found(ASYNC, twice, release)) == {"callbacks callbacks.called-more-than-once"}


@pytest.mark.parametrize("release", ["4.0.0-incubating", "4.2.0", "4.6.1"])
def test_an_asynchronous_send_that_is_not_tried_again(release: str, found: Found) -> None:
    """Up to 4.6.1 a timed-out send must be retried elsewhere; the pause leaves a connection for it."""

    def stop(told: Told) -> None:
        number = sends_to(told, PAUSED, ASYNC)[3]
        first = next(one for one in told.attempts if one.send == number)
        told.attempts = [one for one in told.attempts if one.send != number or one.attempt == 0]
        told.stored = [one for one in told.stored if one.send != number or one.broker == PAUSED]
        given_up = {"error": "MQClientException", "status": None, "broker": None, "queue_id": None}
        change_send(told, number, lambda one: replace(one, **given_up, queue_offset=None, end_ns=first.end_ns))  # type: ignore[arg-type]  # names and values of fields

    assert signatures(found(ASYNC, stop, release)) == {"attempts attempts.stopped-early/first"}


def test_an_asynchronous_send_that_is_not_tried_at_all(found: Found) -> None:
    """A send without an attempt diverges: a pause removes no broker's address."""

    def refuse_to(told: Told) -> None:
        number = sends_to(told, PAUSED, ASYNC)[3]
        told.attempts = [one for one in told.attempts if one.send != number]
        told.stored = [one for one in told.stored if one.send != number]
        change_send(told, number, lambda one: replace(one, end_ns=one.start_ns + MS, cause=None))

    assert signatures(found(ASYNC, refuse_to)) == {"attempts attempts.stopped-early/first"}


def test_an_asynchronous_send_that_is_tried_again(found: Found) -> None:
    """From 5.3.2 on a timeout leaves no time for a retry."""

    def insist(told: Told) -> None:
        number = sends_to(told, PAUSED, ASYNC)[3]
        go_elsewhere(told, number)
        change_send(
            told, number, lambda one: replace(one, error=None, cause=None, status="SEND_OK", end_ns=one.end_ns + 2 * MS)
        )

    assert signatures(found(ASYNC, insist)) == {"attempts attempts.went-on/retry"}


@pytest.mark.parametrize(
    ("release", "noted"), [("4.6.1", set()), ("5.3.3", {"queue-choice witness.queue-or-offset-wrong"})]
)
def test_a_result_that_names_another_place_in_a_pause(release: str, noted: set[str], found: Found) -> None:
    """A wrong offset diverges in 5.3.3; in 4.6.1 it may belong to another message."""

    def lie(told: Told) -> None:
        number = sends_to(told, HEALTHY, ASYNC)[3]
        change_send(told, number, lambda one: replace(one, queue_offset=7_777))

    assert signatures(found(ASYNC, lie, release)) == noted


STORED_TWICE = "duplication duplication.stored-more-than-attempted"


def refuse(told: Told, number: int) -> None:
    """The callback reports SYSTEM_BUSY for a stored message."""
    refused = {"error": "MQBrokerException", "code": 2, "status": None}
    told.attempts = [replace(one, **refused) if one.send == number else one for one in told.attempts]  # type: ignore[arg-type]  # names and values of fields
    change_send(told, number, lambda one: replace(one, **refused, broker=None, queue_id=None, queue_offset=None))  # type: ignore[arg-type]  # the same


def test_a_refusal_may_be_another_messages(found: Found) -> None:
    """Up to 4.6.1 a refusal near a pause may be another message's, but not in calm, from 4.7.0 on, or for a second copy."""

    def in_the_pause(told: Told) -> None:
        refuse(told, sends_to(told, HEALTHY, ASYNC)[3])

    def in_calm(told: Told) -> None:
        refuse(told, 9)

    def and_doubled(told: Told) -> None:
        in_the_pause(told)
        number = sends_to(told, HEALTHY, ASYNC)[3]
        told.stored.append(replace(next(one for one in told.stored if one.send == number), queue_offset=9_000))

    excused = found(ASYNC, in_the_pause, "4.6.1")
    assert signatures(excused) == set()
    measures = {one.name: one.value for one in excused["duplication"].measures}
    assert (measures["stored-though-refused candidate"], measures["stored-though-refused baseline"]) == (1, 0)
    for change, release in ((in_calm, "4.6.1"), (in_the_pause, "5.3.3"), (and_doubled, "4.6.1")):
        assert signatures(found(ASYNC, change, release)) == {STORED_TWICE}, (change, release)


@pytest.mark.parametrize(
    ("retries", "copies", "noted"), [(1, 1, set()), (0, 1, {STORED_TWICE}), (1, 2, {STORED_TWICE})]
)
def test_a_refused_retry_speaks_for_the_attempt_before_it(
    retries: int, copies: int, noted: set[str], found: Found
) -> None:
    """A refused connection may belong to an unreported retry, so the reported attempt may have left one copy."""
    story = replace(ASYNC, settings=replace(ASYNC.settings, retry_times_when_send_async_failed=retries))

    def refuse_connection(told: Told) -> None:
        number = sends_to(told, PAUSED, story)[3]
        told.attempts = [
            replace(one, error="RemotingConnectException") if one.send == number else one for one in told.attempts
        ]
        stored = next(one for one in told.stored if one.send == number)
        told.stored += [replace(stored, queue_offset=9_000 + more) for more in range(1, copies)]

    told = found(story, refuse_connection)
    assert {one for one in signatures(told) if one.startswith("duplication")} == noted


def test_a_second_attempt_speaks_for_itself_where_one_retry_is_allowed(found: Found) -> None:
    """The refused connection of the last allowed retry is its own, so its copy is one too many."""
    story = replace(ASYNC, settings=replace(ASYNC.settings, retry_times_when_send_async_failed=1))

    def refuse_connection(told: Told) -> None:
        number = sends_to(told, PAUSED, story)[3]
        go_elsewhere(told, number)
        told.attempts = [
            replace(one, error="RemotingConnectException") if one.send == number and one.attempt == 1 else one
            for one in told.attempts
        ]

    assert STORED_TWICE in signatures(found(story, refuse_connection, "4.6.1"))


@pytest.mark.parametrize(("cause", "seen"), [(None, "none"), ("RemotingSendRequestException", "")])
def test_an_exception_with_another_cause(cause: str | None, seen: str, found: Found) -> None:
    """In 5.3.3 an exception needs its cause; a lost connection is accepted near a fault."""

    def rename(told: Told) -> None:
        failed = next(one.send for one in told.sends if one.error == "MQClientException")
        change_send(told, failed, lambda one: replace(one, cause=cause))

    expected = {f"error-kind error.other-cause/expected=RemotingConnectException/seen={seen}/first"} if seen else set()
    assert {one.rsplit("/expected", 1)[0] for one in signatures(found(ASYNC, rename))} == {
        one.rsplit("/expected", 1)[0] for one in expected
    }
