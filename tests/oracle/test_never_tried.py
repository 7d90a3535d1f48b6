"""Asynchronous sends that ended without an attempt."""

from dataclasses import replace

import pytest

from rocketdiff.core.records.sending import NEVER_CALLED_BACK, Send
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.asynchronous.sends import judge_asynchronous
from rocketdiff.oracle.producer.judgement import SendJudgement
from rocketdiff.oracle.producer.replay import Replay, replay_for
from tests.oracle.histories import attempt_of, send_of

MS = 1_000_000
REFUSED = send_of(0, 0, SendKind.PLAIN, 0, 0, 3 * MS, "MQClientException", route=1, route_after=1, mode=SendMode.ASYNC)


def judged(send: Send, *, faulty: bool = False, witnessed: bool = True) -> SendJudgement:
    """Judge by 5.3.3 with a timeout of 500 ms and one queue."""
    settings = ClientSettings(send_msg_timeout_ms=500)
    replay = replay_for("5.3.3", settings, {1: (("broker-a", 0),)}, witnessed=witnessed)
    (judgement,) = judge_asynchronous(replay, [send], lambda *_: faulty)
    return judgement


@pytest.mark.parametrize(
    "send",
    [
        replace(REFUSED, route=0),
        replace(REFUSED, route_after=2),
        replace(REFUSED, error=NEVER_CALLED_BACK),
        replace(REFUSED, error=None, status="SEND_OK"),
    ],
)
def test_an_incompletely_seen_send_is_undecided(send: Send) -> None:
    """A send with an unknown route, no callback, or a result without an attempt is undecided."""
    judgement = judged(send)
    assert judgement.difference is None and judgement.undecided is not None


def test_without_a_witness_a_send_is_undecided() -> None:
    """Without recorded attempts a send is undecided."""
    assert judged(REFUSED, witnessed=False).undecided is not None


@pytest.mark.parametrize(("release", "chooser"), [("4.0.0-incubating", None), ("5.3.3", 3)])
def test_a_send_without_a_visible_attempt_may_have_had_its_turn(release: str, chooser: int | None) -> None:
    """A send without an attempt may have taken a queue; only then may the next send skip one."""
    queues = tuple(("broker-a", number) for number in range(4))
    sends = [chosen_by(chooser, number, queues[number % 4]) for number in range(12)]
    for number in (5, 6):
        spoilt = [one for one in sends if one.send != number]
        unseen = replace(sends[number], attempts=(), error=NEVER_CALLED_BACK, status=None, broker=None, queue_id=None)
        without = judge_asynchronous(fresh(release, queues), [*spoilt, unseen], lambda *_: False)
        assert [one.send for one in without if one.difference is not None] == []
        skipped = judge_asynchronous(fresh(release, queues), spoilt, lambda *_: False)
        assert [one.send for one in skipped if one.difference is not None] == [number + 1]


def fresh(release: str, queues: tuple[tuple[str, int], ...]) -> Replay:
    return replay_for(release, ClientSettings(send_msg_timeout_ms=500), {1: queues})


def chosen_by(chooser: int | None, number: int, queue: tuple[str, int]) -> Send:
    start_ns = number * 10 * MS
    attempt = attempt_of(0, *queue, start_ns + 100_000, start_ns + 2 * MS, None, None, "SEND_OK", chooser)
    return replace(
        REFUSED,
        send=number,
        start_ns=start_ns,
        end_ns=start_ns + 2 * MS,
        error=None,
        status="SEND_OK",
        attempts=(attempt,),
    )
