"""
The client's attempts compared with the wire's, on real brokers of which one is paused.

Both have the same send, number, broker and queue; the wire's times lie within those of the client's outermost hook.
"""

import time
from collections.abc import Iterable

import pytest

from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.sends.records import Attempt
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.relay.remoting.attempts import SILENT
from rocketdiff.relay.remoting.cross_check import NO_TIME_NS, disagreements
from rocketdiff.relay.remoting.record import Shut, read_wire
from tests.live import PATIENCE_S, TRIES, await_that, tell_repeat
from tests.relay.staging import MS, Staging, plan_of, through_a_pause

pytestmark = pytest.mark.cluster

KINDS = tuple(SendKind)
TIMEOUT_MS = 300


@pytest.mark.parametrize("name", ["java:4.3.0", "java:5.3.3", "python:5.3.3"])
def test_both_witnesses_tell_the_same_attempts(name: str, stage: Staging) -> None:
    """
    Both witnesses have the same attempts and timeouts, for every kind of send, in calm and through a pause.

    Repeated if a busy machine missed the pause, or held the client up while an answer waited for it.
    """
    for number in range(1, TRIES + 1):
        set_up = stage(name, plan_of(80, KINDS), timeout_ms=TIMEOUT_MS)
        transcript = through_a_pause(set_up, has_met_it)
        wire = set_up.wire(transcript)
        # Java 4.3.0 begins a retry with 1 ms left and gives it up before or after its answer: no disagreement of the witnesses.
        hurried = {one.send for one in transcript.attempts if is_out_of_time(one, transcript.attempts)}
        told, seen = ([one for one in attempts if one.send not in hurried] for attempts in (transcript.attempts, wire))
        disagreed = disagreements(told, seen, {}, TIMEOUT_MS * MS)
        timed_out = {one.send for one in transcript.attempts if one.error == SILENT}
        timed_out &= {one.send for one in wire if one.error == SILENT}
        if number == TRIES or (timed_out and not disagreed):
            break
        tell_repeat(f"{name}: {len(timed_out)} sends met the pause; the witnesses disagreed on {len(disagreed)}")
    assert disagreed == []
    assert timed_out
    for send in {one.send for one in wire}:
        told, seen = (by_queue(attempts, send) for attempts in (transcript.attempts, wire))
        if len(told) == len(seen):  # a reported attempt may never have left, which disagreements() judges
            assert [where(one) for one in seen] == [where(one) for one in told]
            # A heartbeat may close the connection of a pending request: the wire sees no answer. And an answer may cross with its
            # timeout, which disagreements() judges.
            pairs = [
                (one, other) for one, other in zip(told, seen, strict=True) if one.error in (None, "MQBrokerException")
            ]
            assert [what_of(other) for _, other in pairs] == [what_of(one) for one, _ in pairs]
            assert all(one.start_ns <= other.start_ns for one, other in zip(told, seen, strict=True))
            assert all(other.end_ns <= one.end_ns for one, other in zip(told, seen, strict=True) if one.error is None)


def has_met_it(so_far: Transcript) -> bool:
    return sum(attempt.error is not None for attempt in so_far.attempts) >= 2


def is_out_of_time(attempt: Attempt, all_: Iterable[Attempt]) -> bool:
    """True if it began when the timeout of its send was all but over."""
    begun_ns = min(one.start_ns for one in all_ if one.send == attempt.send)
    return attempt.start_ns - begun_ns >= TIMEOUT_MS * MS - NO_TIME_NS


def by_queue(attempts: Iterable[Attempt], send: int) -> list[Attempt]:
    """Return a send's attempts in an order that a relay cannot change."""
    own = [one for one in attempts if one.send == send]
    return sorted(own, key=lambda one: (one.broker, one.queue_id, one.start_ns))


def where(one: Attempt) -> tuple[object, ...]:
    return one.broker, one.queue_id


def what_of(one: Attempt) -> tuple[object, ...]:
    return one.status, one.error, one.code


def test_a_refusing_broker_refuses_through_the_relay(stage: Staging) -> None:
    """A killed broker refuses through the relay, too, unlike a slow one."""
    set_up = stage("java:5.3.3", plan_of(40))
    set_up.cluster.kill("broker-b")
    await_that(lambda: any(isinstance(one, Shut) and one.node == "broker-b" for one in read_wire(set_up.relay.journal)))
    set_up.subject.go(time.monotonic_ns() + 50 * MS)
    transcript = set_up.subject.await_done(PATIENCE_S)
    assert {send.status for send in transcript.sends} == {"SEND_OK"}
    errors = {attempt.error for attempt in transcript.attempts if attempt.broker == "broker-b"}
    assert errors
    assert errors <= {"RemotingConnectException", "RemotingSendRequestException"}
    assert all(one.broker == "broker-a" for one in set_up.wire(transcript))
