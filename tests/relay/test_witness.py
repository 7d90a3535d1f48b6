"""
The client's story held against the wire's, on real brokers of which one is paused.

Where both witnesses can see an attempt they must tell the same of it: send, number, broker, queue; the wire's times lie
within the client's, whose hook runs outside of everything.
"""

import time
from collections import Counter

import pytest

from rocketdiff.core.plan import SendKind
from rocketdiff.relay.remoting.cross_check import disagreements
from rocketdiff.relay.remoting.record import Shut, read_wire
from tests.live import PATIENCE_S, await_that
from tests.relay.staging import MS, Staging, plan_of

pytestmark = pytest.mark.cluster

KINDS = tuple(SendKind)


@pytest.mark.parametrize("name", ["java:4.3.0", "java:5.3.3", "python:5.3.3"])
def test_both_witnesses_tell_the_same_attempts(name: str, stage: Staging) -> None:
    """Every kind of send, calm and through a pause; requests that time out are seen by both as such."""
    set_up = stage(name, plan_of(80, KINDS))
    set_up.subject.go(time.monotonic_ns() + 50 * MS)
    so_far = set_up.subject.transcript
    await_that(lambda: len(so_far.sends) >= 20)
    set_up.cluster.pause("broker-b")
    await_that(lambda: sum(attempt.error is not None for attempt in so_far.attempts) >= 2)
    set_up.cluster.resume("broker-b")
    transcript = set_up.subject.await_done(PATIENCE_S)
    wire = {(one.send, one.attempt): one for one in set_up.wire(transcript)}
    told = {(one.send, one.attempt): one for one in transcript.attempts}

    assert disagreements(transcript.attempts, wire.values(), {}, 3_000_000_000) == []
    assert any(one.error == "RemotingTimeoutException" for one in wire.values())
    counts = [Counter(send for send, _ in each) for each in (told, wire)]
    for (send, number), seen in wire.items():
        if counts[0][send] != counts[1][send]:
            continue  # something told never left, which is for disagreements to judge
        one = told[send, number]
        assert (seen.broker, seen.queue_id, seen.status) == (one.broker, one.queue_id, one.status)
        assert (seen.error, seen.code) == (one.error, one.code)
        assert one.start_ns <= seen.start_ns
        if one.error is None:
            assert seen.end_ns <= one.end_ns


def test_a_refusing_broker_refuses_through_the_relay(stage: Staging) -> None:
    """A killed broker is told apart from a slow one, with the relay between as without it."""
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
