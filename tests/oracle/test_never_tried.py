"""Asynchronous sends that ended before they tried any queue."""

from dataclasses import replace

import pytest

from harness.core.plan import SendKind, SendMode
from harness.core.records import NEVER_CALLED_BACK
from harness.core.settings import ClientSettings
from harness.oracle.asynchronous import judge_asynchronous
from harness.oracle.judgement import Judgement
from harness.oracle.replay import replay_for
from harness.oracle.trace import SendTrace

MS = 1_000_000
REFUSED = SendTrace(
    0, 0, SendKind.PLAIN, 0, 0, 3 * MS, "MQClientException", route=1, route_after=1, mode=SendMode.ASYNC
)


def judged(send: SendTrace, *, faulty: bool = False, witnessed: bool = True) -> Judgement:
    """What the rules of 5.3.3 say, with a timeout of 500 ms and one list of a queue."""
    settings = ClientSettings(send_msg_timeout_ms=500)
    replay = replay_for("5.3.3", settings, {1: (("broker-a", 0),)}, witnessed=witnessed)
    (judgement,) = judge_asynchronous(replay, [send], lambda *_: faulty)
    return judgement


@pytest.mark.parametrize("error", ["MQClientException", "RemotingTooMuchRequestException", "IllegalStateException"])
def test_a_client_that_knows_queues_tries_one(error: str) -> None:
    """With time left and no broker faulty, an exception without an attempt is a difference and no open question."""
    judgement = judged(replace(REFUSED, error=error))
    assert judgement.difference is not None
    assert judgement.difference.signature == "attempts.stopped-early/first"


def test_time_and_addresses_may_be_lacking() -> None:
    """No time is left after as long as the timeout; a broker's address may be gone where one is faulty."""
    late = replace(REFUSED, end_ns=500 * MS, error="RemotingTooMuchRequestException")
    for judgement in (judged(late), judged(REFUSED, faulty=True)):
        assert judgement.difference is None and judgement.undecided is None


@pytest.mark.parametrize(
    "send",
    [
        replace(REFUSED, route=0),
        replace(REFUSED, route_after=2),
        replace(REFUSED, error=NEVER_CALLED_BACK),
        replace(REFUSED, error=None, status="SEND_OK"),
    ],
)
def test_what_was_not_seen_stays_open(send: SendTrace) -> None:
    """A route that was never told of, a callback that never came, and a result that somebody must have tried for."""
    judgement = judged(send)
    assert judgement.difference is None and judgement.undecided is not None


def test_without_a_witness_nobody_knows_of_attempts() -> None:
    """A client that shows none of them may have made some."""
    assert judged(REFUSED, witnessed=False).undecided is not None
