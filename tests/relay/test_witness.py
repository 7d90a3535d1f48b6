"""
The client's attempts compared with the wire's, on real brokers of which one is paused.

Both have the same send, number, broker and queue; the wire's times lie within those of the client's outermost hook.
"""

from collections.abc import Iterable, Sequence

import pytest

from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.relay.remoting.attempts import SILENT
from rocketdiff.relay.remoting.cross_check import NO_TIME_NS, disagreements
from tests.live import repeated
from tests.relay.staging import MS, Staging, plan_of
from tests.subjects.pausing import through_a_pause

pytestmark = pytest.mark.cluster

KINDS = tuple(SendKind)
TIMEOUT_MS = 300


@pytest.mark.parametrize("name", ["java:4.3.0", "java:5.3.3"])
def test_both_witnesses_have_the_same_attempts(name: str, stage: Staging) -> None:
    """
    Both witnesses have the same attempts and timeouts, for every kind of send, in calm and through a pause.

    Repeated if a busy machine missed the pause, or held the client up while an answer waited for it. The reference and the wire:
    tests/whole/test_main_job.py.
    """

    def witnessed(_: int) -> tuple[list[Attempt], list[Attempt]]:
        set_up = stage(name, plan_of(80, KINDS), timeout_ms=TIMEOUT_MS)
        transcript = through_a_pause(set_up.cluster, set_up.subject, has_met_it)
        return transcript.attempts, set_up.wire(transcript)

    def left_open(both: tuple[list[Attempt], list[Attempt]]) -> str:
        return "; ".join(disagreed(*both)) or ("" if timed_out(*both) else "no send met the pause")

    reported, wire = repeated(witnessed, left_open)
    assert disagreed(reported, wire) == []
    assert timed_out(reported, wire)
    for send in {one.send for one in wire}:
        seen_text, seen = (by_queue(attempts, send) for attempts in (reported, wire))
        if len(seen_text) == len(seen):  # a reported attempt may never have left, which disagreements() judges
            assert [(one.broker, one.queue_id) for one in seen] == [(one.broker, one.queue_id) for one in seen_text]
            # A heartbeat may close the connection of a pending request: the wire sees no answer. And an answer may cross with its
            # timeout, which disagreements() judges.
            pairs = list(zip(seen_text, seen, strict=True))
            answered = [(one, other) for one, other in pairs if one.error in (None, "MQBrokerException")]
            assert all(
                (one.status, one.error, one.code) == (other.status, other.error, other.code) for one, other in answered
            )
            assert all(one.start_ns <= other.start_ns for one, other in pairs)
            assert all(other.end_ns <= one.end_ns for one, other in pairs if one.error is None)


def has_met_it(so_far: Transcript) -> bool:
    return sum(attempt.error is not None for attempt in so_far.attempts) >= 2


def disagreed(reported: Sequence[Attempt], wire: Sequence[Attempt]) -> list[str]:
    """
    Return on what the witnesses disagree, without sends that had an attempt without time left.

    Java 4.3.0 begins a retry with 1 ms left and gives it up before or after its answer.
    """
    hurried = {one.send for one in reported if is_out_of_time(one, reported)}
    seen_text, seen = ([one for one in attempts if one.send not in hurried] for attempts in (reported, wire))
    return disagreements(seen_text, seen, {}, TIMEOUT_MS * MS)


def timed_out(reported: Sequence[Attempt], wire: Sequence[Attempt]) -> set[int]:
    """Return the sends in which both witnesses have an attempt without an answer."""
    seen_text, seen = ({one.send for one in attempts if one.error == SILENT} for attempts in (reported, wire))
    return seen_text & seen


def is_out_of_time(attempt: Attempt, reported: Iterable[Attempt]) -> bool:
    """True if it began when the timeout of its send was all but over."""
    begun_ns = min(one.start_ns for one in reported if one.send == attempt.send)
    return attempt.start_ns - begun_ns >= TIMEOUT_MS * MS - NO_TIME_NS


def by_queue(attempts: Iterable[Attempt], send: int) -> list[Attempt]:
    """Return a send's attempts in an order that a relay cannot change."""
    own = [one for one in attempts if one.send == send]
    return sorted(own, key=lambda one: (one.broker, one.queue_id, one.start_ns))
