"""Splits a send into decision points with time windows."""

from dataclasses import replace

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.oracle.producer.states.decision_point import DecisionPoint, decision_points_of
from tests.oracle.histories import attempt_of, send_of

FIRST, SECOND = attempt_of(0, "a", 0, 20, 30), attempt_of(1, "b", 0, 40, 50)
SEND = send_of(0, 0, SendKind.PLAIN, 0, 10, 60, attempts=(FIRST, SECOND))


def point(
    number: int,
    from_ns: int,
    to_ns: int,
    settled: Attempt | None,
    followed_by: Attempt | None,
    *,
    chooses: bool = True,
    send: Send = SEND,
) -> DecisionPoint:
    return DecisionPoint(send, number, from_ns, to_ns, settled, chooses, followed_by)


def test_a_choice_lies_between_what_was_seen_before_and_after_it() -> None:
    """A window lies between the call or an attempt's end and the next attempt or the call's end."""
    assert list(decision_points_of(SEND, split=False)) == [
        point(0, 10, 20, None, FIRST),
        point(1, 30, 40, FIRST, SECOND),
        point(2, 50, 60, SECOND, None),
    ]


def test_noting_an_end_and_choosing_are_two_moments_where_threads_may_come_between() -> None:
    """With ``split``, noting an end and choosing are two points of one window; before the first attempt nothing is noted."""
    assert list(decision_points_of(SEND, split=True)) == [
        point(0, 10, 20, None, FIRST),
        point(1, 30, 40, FIRST, SECOND, chooses=False),
        point(1, 30, 40, None, SECOND),
        point(2, 50, 60, SECOND, None, chooses=False),
        point(2, 50, 60, None, None),
    ]


def test_a_call_without_attempts_decides_once() -> None:
    """A call without attempts has one decision point, its end."""
    bare = replace(SEND, attempts=())
    for split in (False, True):
        assert list(decision_points_of(bare, split=split)) == [point(0, 10, 60, None, None, send=bare)]


def test_a_window_never_ends_before_it_begins() -> None:
    """A window never ends before it begins, although two witnesses' clocks may say so."""
    late = replace(SEND, start_ns=25, attempts=(replace(FIRST, end_ns=45), SECOND))
    windows = [(one.from_ns, one.to_ns) for one in decision_points_of(late, split=False)]
    assert windows == [(25, 25), (45, 45), (50, 60)]


def test_of_an_asynchronous_send_only_the_first_choice_is_one() -> None:
    """An asynchronous send has only its first choice: other threads decide the rest."""
    for split in (False, True):
        for start_ns, to_ns in ((10, 20), (25, 25)):
            send = replace(SEND, mode=SendMode.ASYNC, start_ns=start_ns)
            assert list(decision_points_of(send, split=split)) == [point(0, start_ns, to_ns, None, FIRST, send=send)]
