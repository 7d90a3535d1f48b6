"""
Defects of each send mode beside a pause are found as in calm.

The first test shows that the undamaged traces conform.
"""

from dataclasses import replace
from typing import TypeVar

import pytest

from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.message import KEYS
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.tables.fault import FaultKind
from rocketdiff.core.tables.settings import ClientSettings
from tests.analysis import synthetic
from tests.analysis.planting import (
    ASYNC,
    DELAYED,
    HEALTHY,
    ONEWAY,
    PAUSED,
    PLAIN,
    TO_QUEUE,
    Found,
    change_copies,
    change_send,
    go_elsewhere,
    sends_to,
    signatures,
)
from tests.analysis.synthetic import MS, Pause, Told
from tests.analysis.synthetic_modes import ModeStory, carrying


@pytest.mark.parametrize("release", ["4.2.0", "4.6.1", "5.3.3"])
@pytest.mark.parametrize("story", [ASYNC, replace(ASYNC, kind=SendKind.QUEUE), ONEWAY, TO_QUEUE, DELAYED, PLAIN])
def test_faithful_clients_differ_in_nothing(story: ModeStory, release: str, found: Found) -> None:
    """Faithful clients conform beside a pause, and all checks but ``attempts`` and ``error-kind`` must decide."""
    evidence = found(story, release=release)
    assert signatures(evidence) == set()
    looked = set(story.checks) - {"attempts", "error-kind"}
    assert {evidence[check].standing for check in looked} == {Standing.DECISIVE}


@pytest.mark.parametrize("story", [ASYNC, ONEWAY])
def test_a_healthy_broker_left_in_a_pause(story: ModeStory, found: Found) -> None:
    """The other broker's pause is no reason to send a message twice."""

    def again(told: Told) -> None:
        number = sends_to(told, HEALTHY, story)[1]
        go_elsewhere(told, number)
        change_send(
            told, number, lambda one: replace(one, end_ns=one.end_ns + 2 * MS, queue_offset=one.queue_offset and 9_000)
        )

    assert "attempts attempts.went-on/retry" in signatures(found(story, again))


@pytest.mark.parametrize("release", ["4.6.1", "5.3.3"])
@pytest.mark.parametrize("broker", [HEALTHY, PAUSED])
@pytest.mark.parametrize("story", [ASYNC, ONEWAY])
def test_a_message_sent_twice_in_a_pause_and_told_once(
    story: ModeStory, broker: str, release: str, found: Found
) -> None:
    """A second copy of one reported attempt diverges: confused answers or a late store do not explain it."""

    def double(told: Told) -> None:
        number = sends_to(told, broker, story)[3]
        one = next(one for one in told.stored if (one.send, one.broker) == (number, broker))
        told.stored.append(replace(one, queue_offset=9_000))

    assert signatures(found(story, double, release)) == {"duplication duplication.stored-more-than-attempted"}


@pytest.mark.parametrize("story", [ASYNC, ONEWAY, TO_QUEUE, DELAYED])
def test_a_queue_taken_out_of_turn_in_a_pause(story: ModeStory, found: Found) -> None:
    """A queue out of turn in a pause is found, although it is reported and holds the message."""

    def stray(told: Told) -> None:
        number = sends_to(told, HEALTHY, story)[1]

        def on(queue: int) -> int:
            return (queue + 2) % 4

        told.attempts = [
            replace(one, queue_id=on(one.queue_id)) if one.send == number else one for one in told.attempts
        ]
        change_copies(told, number, lambda one: replace(one, queue_id=on(one.queue_id), queue_offset=9_000))
        change_send(told, number, lambda one: one if one.queue_id is None else replace(one, queue_id=on(one.queue_id)))

    assert "queue-choice queue.out-of-turn/first" in signatures(found(story, stray))


@pytest.mark.parametrize("release", ["4.6.1", "5.3.3"])
@pytest.mark.parametrize("story", [ASYNC, TO_QUEUE])
def test_an_acknowledged_message_lost_in_a_pause(story: ModeStory, release: str, found: Found) -> None:
    """A message lost by the healthy broker beside the paused one is found."""

    def lose(told: Told) -> None:
        number = sends_to(told, HEALTHY, story)[1]
        told.stored = [one for one in told.stored if one.send != number]

    assert signatures(found(story, lose, release)) == {"loss loss.acknowledged-not-stored"}


WAITED = "attempts attempts.waited-for-an-answer"


@pytest.mark.parametrize(("broker", "noted"), [(PAUSED, {WAITED}), (HEALTHY, set())])
@pytest.mark.parametrize("release", ["4.2.0", "5.3.3"])
def test_a_one_way_call_that_waits_for_its_answer(release: str, broker: str, noted: set[str], found: Found) -> None:
    """A one-way call that waits for a paused broker diverges; at a healthy one the machine may have stalled."""
    story = replace(ONEWAY, settings=ClientSettings(send_msg_timeout_ms=3_000))

    def wait(told: Told) -> None:
        number = sends_to(told, broker, story)[0]
        hold_up(told, number)

    assert signatures(found(story, wait, release)) == noted


@pytest.mark.parametrize(
    ("kind", "noted"),
    [
        (FaultKind.FLOW_CONTROL, set()),
        (FaultKind.FLUSH_TIMEOUT, set()),
        (FaultKind.READ_ONLY, set()),
        (FaultKind.WIRE_DELAY, {WAITED}),
        (FaultKind.WIRE_SWALLOW, {WAITED}),
    ],
)
def test_a_one_way_call_that_took_long_beside_another_fault(
    kind: FaultKind, noted: set[str], found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long one-way call diverges only under a fault that withholds answers; an error is an answer too."""
    story = replace(ONEWAY, settings=ClientSettings(send_msg_timeout_ms=3_000))
    faults_of = synthetic.faults_of
    monkeypatch.setattr(synthetic, "faults_of", lambda one: tuple(replace(f, kind=kind) for f in faults_of(one)))

    def wait(told: Told) -> None:
        number = sends_to(told, PAUSED, story)[0]
        hold_up(told, number)

    assert signatures(found(story, wait)) == noted


Timed = TypeVar("Timed", Attempt, Send)


def hold_up(told: Told, number: int) -> None:
    """Delay a thread from one send on; messages are born in their calls."""
    told.attempts = [later(one, number) for one in told.attempts]
    told.sends = [later(one, number) for one in told.sends]
    told.stored = [
        replace(one, born_timestamp_ms=one.born_timestamp_ms + 1_500 * (one.send is not None and one.send > number))
        for one in told.stored
    ]


def later(one: Timed, number: int) -> Timed:
    """Move what follows a send, and its end, by 1.5 s."""
    by_ns = 1_500 * MS
    return replace(
        one, start_ns=one.start_ns + by_ns * (one.send > number), end_ns=one.end_ns + by_ns * (one.send >= number)
    )


@pytest.mark.parametrize("story", [ASYNC, ONEWAY, TO_QUEUE, DELAYED, PLAIN])
@pytest.mark.parametrize("broker", [HEALTHY, PAUSED])
def test_keys_lost_in_a_pause(story: ModeStory, broker: str, found: Found) -> None:
    """Lost keys are found, whether the message is stored at once or late."""

    def drop(told: Told) -> None:
        number = sends_to(told, broker, story)[0]
        change_copies(told, number, lambda one: carrying(one, ""))

    assert signatures(found(story, drop)) == {f"content content.property-missing/{KEYS}"}


@pytest.mark.parametrize("paused", ["broker-a", "broker-b"])
def test_keys_lost_by_the_second_attempt(paused: str, found: Found) -> None:
    """Keys missing only in the retry's copy are found, on either broker."""
    story = replace(PLAIN, pauses=(Pause(paused, 1_000, 3_000),))

    def drop(told: Told) -> None:
        number = next(one.send for one in told.attempts if one.attempt == 1)
        change_copies(told, number, lambda one: one if one.broker == paused else carrying(one, ""))

    assert signatures(found(story, drop, "4.2.0")) == {f"content content.property-missing/{KEYS}"}


@pytest.mark.parametrize("paused", ["broker-a", "broker-b"])
def test_two_attempts_that_spoil_their_copies_each_in_its_way(paused: str, found: Found) -> None:
    """Keys lost in one copy do not hide the changed body of the other."""
    story = replace(PLAIN, pauses=(Pause(paused, 1_000, 3_000),))

    def spoil(told: Told) -> None:
        number = next(one.send for one in told.attempts if one.attempt == 1)
        change_copies(
            told,
            number,
            lambda one: carrying(one, "") if one.broker == paused else replace(one, body_ok=False),
        )

    both = {f"content content.property-missing/{KEYS}", "content content.body-changed"}
    assert signatures(found(story, spoil, "4.2.0")) == both | {"loss loss.body-damaged"}


def test_an_order_broken_in_a_pause(found: Found) -> None:
    """Two neighbours of a key, swapped on the healthy broker, are found."""

    def swap(told: Told) -> None:
        of_a_key = [send for send in sends_to(told, HEALTHY, TO_QUEUE) if send % 3 == 0]
        one, other = of_a_key[:2]
        offsets = {send.send: send.queue_offset for send in told.sends}
        moved = {one: offsets[other] or 0, other: offsets[one] or 0}
        told.stored = [
            replace(copy, queue_offset=moved[copy.send]) if copy.send in moved else copy for copy in told.stored
        ]
        told.sends = [replace(send, queue_offset=moved.get(send.send, send.queue_offset)) for send in told.sends]

    assert signatures(found(TO_QUEUE, swap)) == {"order order.stored-before-an-earlier-message"}


def test_a_delay_dropped_in_a_pause(found: Found) -> None:
    """A delayed message that is in its topic at once is noted as not kept back."""

    def forget(told: Told) -> None:
        number = sends_to(told, HEALTHY, DELAYED)[3]
        told.scheduled = [one for one in told.scheduled or () if one.send != number]
        change_copies(told, number, lambda one: replace(one, store_timestamp_ms=one.store_timestamp_ms - 1_000))
        change_send(told, number, lambda one: replace(one, queue_offset=None))

    assert "delay delay.not-kept-back" in signatures(found(DELAYED, forget))


@pytest.mark.parametrize("paused", ["broker-a", "broker-b"])
def test_a_delay_dropped_by_the_second_attempt(paused: str, found: Found) -> None:
    """A retry's copy without its delay is found beside the first copy, kept back later."""
    story = replace(DELAYED, pauses=(Pause(paused, 1_000, 3_000),))

    def forget(told: Told) -> None:
        number = next(one.send for one in told.attempts if one.attempt == 1)
        told.scheduled = [one for one in told.scheduled or () if one.send != number or one.broker == paused]
        early_ms = 1_000
        change_copies(
            told,
            number,
            lambda one: (
                one if one.broker == paused else replace(one, store_timestamp_ms=one.store_timestamp_ms - early_ms)
            ),
        )

    assert any(one.startswith("delay delay.") for one in signatures(found(story, forget, "4.2.0")))


def test_a_delayed_message_delivered_early_in_a_pause(found: Found) -> None:
    """A delivery half a second early is found."""

    def hurry(told: Told) -> None:
        number = sends_to(told, HEALTHY, DELAYED)[3]
        change_copies(told, number, lambda one: replace(one, store_timestamp_ms=one.store_timestamp_ms - 500))

    assert signatures(found(DELAYED, hurry)) == {"delay delay.delivered-early"}
