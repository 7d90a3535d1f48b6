"""The broker of every retry of an asynchronous send, in calm and beside faulty brokers."""

from dataclasses import replace

import pytest

from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.asynchronous.ends import Troubled
from rocketdiff.oracle.producer.asynchronous.retry_brokers import retry_broker_difference
from rocketdiff.oracle.producer.judgement import DifferenceKind, RuleDifference
from rocketdiff.oracle.producer.replay import replay_for
from tests.oracle.histories import attempt_of, routes, send_of

RETURNED, LEFT = "retry.returned-to-failed-broker/retry", "retry.left-its-queue/retry"


def tried(*queues: str, kind: SendKind = SendKind.PLAIN, route: int = 1, route_after: int = 1) -> Send:
    """Return a send with attempts at these queues, at 10–19 ns, 20–29 ns and so on; called back at 99."""
    attempts = tuple(
        attempt_of(number, queue[0], int(queue[1:]), 10 * (number + 1), 10 * (number + 1) + 9)
        for number, queue in enumerate(queues)
    )
    return send_of(
        0,
        0,
        kind,
        0,
        0,
        99,
        status="SEND_OK",
        route=route,
        route_after=route_after,
        attempts=attempts,
        mode=SendMode.ASYNC,
    )


def difference(
    send: Send, *lists: str, troubled: Troubled = lambda *_: False, latency: bool = False
) -> RuleDifference | None:
    """Judge by 5.3.3, as in every release, with the list "a2 b2" by default."""
    settings = ClientSettings(send_latency_fault_enable=latency)
    return retry_broker_difference(replay_for("5.3.3", settings, routes(*(lists or ("a2 b2",)))), send, troubled)


def name(send: Send, *lists: str, troubled: Troubled = lambda *_: False) -> str | None:
    found = difference(send, *lists, troubled=troubled)
    return None if found is None else found.signature


def test_a_retry_goes_to_another_broker() -> None:
    """A retry goes to another broker, at any queue."""
    assert [name(tried(*queues)) for queues in (("a0",), ("a0", "b0"), ("a0", "b1", "a0"))] == [None] * 3


def test_a_retry_at_the_broker_that_failed() -> None:
    """A retry at the failed broker is a difference, at whatever queue."""
    assert difference(tried("a0", "a1")) == RuleDifference(
        DifferenceKind.QUEUE,
        RETURNED,
        1,
        "attempt 1 at another broker than a, where attempt 0 failed",
        "attempt 1 went to a queue 1",
        {"broker": "a"},
    )
    assert name(tried("a0", "a0")) == RETURNED


def test_the_first_wrong_retry_differs() -> None:
    """Of all retries the first wrong one is reported."""
    for queues in (("a0", "b0", "b1"), ("a0", "b0", "b1", "b0")):
        found = difference(tried(*queues))
        assert found is not None
        assert (found.attempt, found.observed) == (2, "attempt 2 went to b queue 1")


def test_the_only_broker_is_retried() -> None:
    """A retry may return if the list before or after the call has no other broker."""
    assert name(tried("a0", "a1"), "a2") is None
    for before, after in ((1, 2), (2, 1), (1, 7), (2, 2)):
        assert name(tried("a0", "a1", route=before, route_after=after), "a2 b2", "a2") is None
    assert name(tried("a0", "a1", route=1, route_after=2), "a2 b2", "a1 b1 c1") == RETURNED


def test_beside_a_faulty_broker_one_retry_may_not_have_been_seen() -> None:
    """A retry may return if another broker was faulty: an invisible attempt may lie in between."""

    def ails(wanted: str) -> Troubled:
        return lambda broker, *_: broker == wanted

    assert name(tried("a0", "a1"), troubled=ails("b")) is None
    assert [name(tried("a0", "a1"), "a1 b1 c1", troubled=ails(one)) for one in "bca"] == [None, None, RETURNED]


def test_it_is_asked_from_the_failed_attempt_to_the_retry() -> None:
    """Faults count from the start of the failed attempt to that of the retry."""
    asked: list[tuple[str | None, int, int]] = []

    def note(broker: str | None, from_ns: int, to_ns: int) -> bool:
        asked.append((broker, from_ns, to_ns))
        return False

    difference(tried("a0", "a1"), troubled=note)
    assert asked == [("b", 10, 20)]


def test_an_attempt_after_the_callback_is_no_retry() -> None:
    """An attempt at or after the callback is no retry; the first attempt always counts."""
    for end_ns, found in ((21, RETURNED), (20, None), (19, None)):
        assert name(replace(tried("a0", "a1"), end_ns=end_ns)) == found
    late_first = tried("a0", "a1")
    first, second = late_first.attempts
    turned = replace(late_first, end_ns=25, attempts=(replace(first, start_ns=26), second))
    assert name(turned) == RETURNED


@pytest.mark.parametrize("kind", [SendKind.QUEUE, SendKind.SELECTOR])
def test_a_retry_stays_in_the_queue_that_the_application_named(kind: SendKind) -> None:
    """A retry stays at the queue named by the application, even with faulty brokers."""
    assert name(tried("a0", "a0", "a0", kind=kind)) is None
    assert difference(tried("a0", "a1", kind=kind)) == RuleDifference(
        DifferenceKind.QUEUE,
        LEFT,
        1,
        "attempt 1 at a queue 0, as the application named it",
        "attempt 1 went to a queue 1",
        {"broker": "a"},
    )
    assert name(tried("a0", "a0", "b0", kind=kind), troubled=lambda *_: True) == LEFT


def test_retries_are_not_judged_with_fault_latency() -> None:
    """With fault latency on nothing is judged: callbacks write the table that decides."""
    assert difference(tried("a0", "a1"), latency=True) is None
    assert difference(tried("a0", "a1", kind=SendKind.QUEUE), latency=True) is None
