"""
The C++ client's documented behaviour on real brokers, checked on the wire.

This project's first comparison of clients claims: up to five attempts, each with the whole timeout and at another
broker than the last; a counter from 0.
"""

import time
from collections import Counter

import pytest

from rocketdiff.analysis.sending.steps.causes import CROWDED_CODES
from rocketdiff.cluster.operations.drain import await_drained
from rocketdiff.cluster.operations.stored import read_stored
from rocketdiff.core.records.sending import Attempt
from rocketdiff.protocol.transcript import Transcript
from tests.live import PATIENCE_S, repeated
from tests.relay.staging import MS, Staging, plan_of
from tests.subjects.pausing import through_a_pause

pytestmark = pytest.mark.cluster

TIMEOUT_MS = 300
IN_TURN = [(broker, queue) for broker in ("broker-a", "broker-b") for queue in range(4)]


def test_each_send_in_calm_makes_one_attempt(stage: Staging) -> None:
    """In calm each send makes one attempt, in rotation from 0, and every message is stored once, whole."""
    set_up = stage("cpp:2.1.0", plan_of(24))
    set_up.subject.go(time.monotonic_ns() + 50 * MS)
    transcript = set_up.subject.await_done(PATIENCE_S)
    assert {send.status for send in transcript.sends} == {"SEND_OK"}
    assert transcript.attempts == []
    wire = set_up.wire(transcript)
    assert [(one.send, one.attempt) for one in wire] == [(send, 0) for send in range(24)]
    assert [(one.broker, one.queue_id) for one in wire] == IN_TURN * 3
    await_drained(stage.cluster, [set_up.topic])
    rows = list(read_stored(stage.cluster, set_up.topic, plan_of(24).body_bytes))
    assert sorted(row.send for row in rows if row.send is not None) == list(range(24))
    assert all(row.body_ok for row in rows)


def has_met_it(so_far: Transcript) -> bool:
    return sum(send.end_ns - send.start_ns >= TIMEOUT_MS * MS for send in so_far.sends) >= 2


def met_it(one: Attempt) -> bool:
    return one.error is not None and one.broker == "broker-b" and one.attempt == 0


def test_a_paused_broker_costs_one_timeout_and_no_send(stage: Staging) -> None:
    """After a timeout the client succeeds at the other broker, where Java fails from 4.3.0 on."""

    def sent(_: int) -> tuple[Transcript, list[Attempt]]:
        set_up = stage("cpp:2.1.0", plan_of(60), timeout_ms=TIMEOUT_MS)
        transcript = through_a_pause(set_up.cluster, set_up.subject, has_met_it)
        return transcript, set_up.wire(transcript)

    def left_open(both: tuple[Transcript, list[Attempt]]) -> str:
        if any(one.code in CROWDED_CODES for one in both[1]):
            return "a broker was busy"
        return "" if any(map(met_it, both[1])) else "no first attempt met the pause"

    transcript, wire = repeated(sent, left_open)
    assert {send.status for send in transcript.sends} == {"SEND_OK"}
    blocked = [one for one in wire if one.error]
    assert any(map(met_it, blocked))
    for one in blocked:
        # Also at the other broker, if a busy machine delays its answer.
        assert one.error == "RemotingTimeoutException"
        (retry,) = [other for other in wire if other.send == one.send and other.attempt == one.attempt + 1]
        assert retry.broker != one.broker
        assert one.attempt or retry.queue_id == 0
    # By the client's clock: a busy relay sees a request late.
    timeouts = Counter(one.send for one in blocked)
    assert all(send.end_ns - send.start_ns >= timeouts[send.send] * TIMEOUT_MS * MS for send in transcript.sends)
