"""Asynchronous sends of one arm: whose counter chose, what is unknown, how each ended."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.core.records.sending import NEVER_CALLED_BACK, UNSEEN_END, UNSEEN_ROUTE, Send
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.asynchronous.ends import Troubled
from rocketdiff.oracle.producer.asynchronous.sends import judge_asynchronous
from rocketdiff.oracle.producer.judgement import Decision, DifferenceKind, RuleDifference, SendJudgement
from rocketdiff.oracle.producer.replay import replay_for
from tests.oracle.histories import attempt_of, routes, send_of

MS = 1_000_000
CLIENT, TOO_MUCH = "MQClientException", "RemotingTooMuchRequestException"
WITHOUT_ATTEMPT = send_of(7, 2, SendKind.PLAIN, 0, 0, 3 * MS, CLIENT, route=1, route_after=1, mode=SendMode.ASYNC)


def calm(*_: object) -> bool:
    return False


def faulty(*_: object) -> bool:
    return True


def judged(
    sends: Sequence[Send],
    *,
    release: str = "5.3.3",
    troubled: Troubled = calm,
    latency: bool = False,
    witnessed: bool = True,
    choosers_reported: bool = True,
    lists: tuple[str, ...] = ("a4 b4",),
) -> list[SendJudgement]:
    """Judge with two brokers of four queues each and a timeout of 500 ms."""
    settings = ClientSettings(send_msg_timeout_ms=500, send_latency_fault_enable=latency)
    replay = replay_for(release, settings, routes(*lists), witnessed=witnessed, causes_reported=False)
    return list(judge_asynchronous(replay, sends, troubled, choosers_reported=choosers_reported))


def send(number: int, *queues: str, chooser: int | None = 3, thread: int = 0, took_ms: int = 2) -> Send:
    """Return a send begun at number × 1,000 ms, answered at the last queue."""
    attempts, at_ns = [], number * 1_000 * MS + 100_000
    for place, queue in enumerate(queues):
        error = UNSEEN_END if place + 1 < len(queues) else None
        took_ns = took_ms * MS
        attempts.append(
            attempt_of(
                place,
                queue[0],
                int(queue[1:]),
                at_ns,
                at_ns + took_ns,
                error,
                None,
                None if error else "SEND_OK",
                chooser,
            )
        )
        at_ns += took_ns
    start_ns = number * 1_000 * MS
    return send_of(
        number, thread, SendKind.PLAIN, 0, start_ns, at_ns, status="SEND_OK", route=1, route_after=1,
        attempts=tuple(attempts), mode=SendMode.ASYNC,
    )  # fmt: skip


def names(judgements: Sequence[SendJudgement]) -> list[tuple[int, str | None]]:
    """Return number and signature of each, or "undecided"."""
    return [
        (one.send, "undecided" if one.undecided else None if one.difference is None else one.difference.signature)
        for one in judgements
    ]


def test_each_chooser_has_a_counter() -> None:
    """Each choosing thread has a counter, whichever application thread called."""
    sends = [send(0, "a0"), send(1, "b0", chooser=4), send(2, "a1", thread=1), send(3, "b1", chooser=4), send(4, "a2")]
    assert names(judged(sends)) == [(number, None) for number in range(5)]
    assert names(judged([send(0, "a0"), send(1, "a0", chooser=4), send(2, "a2")]))[2] == (2, "queue.out-of-turn/first")


def test_to_4_2_0_the_application_s_thread_has_it() -> None:
    """Up to 4.2.0 each application thread has a counter; no chooser is recorded."""
    sends = [send(0, "a0", chooser=None), send(1, "b0", chooser=None, thread=1), send(2, "a1", chooser=None)]
    assert names(judged(sends, release="4.2.0", choosers_reported=False)) == [(0, None), (1, None), (2, None)]
    skipped = [*sends[:2], send(2, "a2", chooser=None)]
    assert names(judged(skipped, release="4.2.0", choosers_reported=False))[2] == (2, "queue.out-of-turn/first")


def test_a_judgement_has_the_application_s_thread() -> None:
    """A judgement has the application's thread, a decision with eight legal queues, and one hidden state."""
    (judgement,) = judged([send(5, "a0", thread=2)])
    decision = Decision(0, queues_total=8, queues_legal=8, avoided=0)
    assert judgement == SendJudgement(5, 2, (decision,), None, 1)


def test_sends_are_in_the_order_of_their_choices() -> None:
    """Sends are ordered by their choice, then by number; those without a choice come first."""
    early = send(9, "a0")
    early = replace(early, start_ns=0, attempts=tuple(replace(one, start_ns=0) for one in early.attempts))
    twin = replace(early, send=8, attempts=tuple(replace(one, chooser=4) for one in early.attempts))
    sends = [send(1, "a1"), early, twin, WITHOUT_ATTEMPT]
    assert [one.send for one in judged(sends)] == [7, 8, 9, 1]


def test_a_retry_is_no_send_of_its_own() -> None:
    """A retry moves its thread's counter unseen: any queue may follow, then the counter is known again."""
    lost = send(0, "a0", "b2")
    for following, found in ((("b1", "b2"), None), (("b1", "b3"), "queue.out-of-turn/first")):
        sends = [lost, *(send(number, queue) for number, queue in enumerate(following, 1))]
        assert names(judged(sends, troubled=faulty)) == [(0, None), (1, None), (2, found)]


@pytest.mark.parametrize(
    ("release", "took_ms", "is_open"),
    [("5.3.3", 499, True), ("5.3.3", 500, False), ("4.3.2", 500, True), ("4.3.2", 1_700, True), ("4.2.0", 500, False)],
)
def test_a_failure_at_once_may_be_chosen_for_again_in_that_thread(release: str, took_ms: int, is_open: bool) -> None:
    """
    A failure before the timeout may be retried unseen by its thread, so a3 may follow a0.

    Another thread notices a later one, except in 4.3.x, where one pool does both.
    """
    chooser = None if release == "4.2.0" else 3
    failed = send(1, "a0", chooser=chooser, took_ms=took_ms)
    failed = replace(failed, attempts=(replace(failed.attempts[0], error=UNSEEN_END, status=None),), error=CLIENT)
    following = send(4, "a3", chooser=chooser)
    found = names(judged([failed, following], release=release, troubled=faulty))[1]
    assert found == (4, None if is_open else "queue.out-of-turn/first")


def test_it_is_the_first_attempt_that_may_have_been_chosen_for_again() -> None:
    """A first attempt that fails at once makes the counter unknown before its visible retry."""
    first, retry = send(0, "a0", "b2").attempts
    late = replace(retry, start_ns=2_500 * MS, end_ns=2_502 * MS)
    lost = replace(send(0, "a0", "b2"), attempts=(first, late), end_ns=late.end_ns)
    assert names(judged([lost, send(1, "a3")], troubled=faulty)) == [(0, None), (1, None)]


def test_an_answer_leaves_the_counter_known() -> None:
    """After an answer the counter is known: a skipped queue is a difference."""
    assert names(judged([send(0, "a0"), send(1, "a3")], troubled=faulty))[1] == (1, "queue.out-of-turn/first")


def test_how_a_send_ended_is_judged_beside_its_first_queue() -> None:
    """A retry in calm is a difference; at a faulty broker, one that returns to it."""
    twice = send(0, "a0", "b0")
    assert names(judged([twice])) == [(0, "attempts.went-on/retry")]

    def ails_a(broker: str | None, *_: object) -> bool:
        return broker in ("a", None)

    assert names(judged([twice], troubled=ails_a)) == [(0, None)]
    assert names(judged([send(0, "a0", "a1")], troubled=ails_a)) == [(0, "retry.returned-to-failed-broker/retry")]


def test_the_first_difference_counts() -> None:
    """The first difference is reported: first queue, then end, then broker of a retry."""
    sends = [send(0, "a0"), send(1, "b3", "b2")]
    assert names(judged(sends))[1] == (1, "queue.out-of-turn/first")
    assert names(judged(sends[1:])) == [(1, "attempts.went-on/retry")]


def test_an_undecided_send_differs_in_nothing() -> None:
    """A send is undecided if its list is not in the trace or attempts cannot have been seen."""
    for version in (6, UNSEEN_ROUTE):
        unknown = replace(send(0, "a0", "a1"), route=version, route_after=version)
        for latency in (False, True):
            judgements = judged([unknown], latency=latency)
            assert names(judgements) == [(0, "undecided")]
            assert judgements[0].difference is None


@pytest.mark.parametrize("settings", [{"latency": True}, {"choosers_told": False}])
def test_without_a_known_first_choice_the_end_is_judged_alone(settings: dict[str, bool]) -> None:
    """With fault latency or unknown choosers only the attempts are counted; the first choice is not judged."""
    sends = [send(0, "a0"), send(1, "b3", thread=2), send(2, "b2", "a3")]
    latency, reported = settings.get("latency", False), settings.get("choosers_told", True)
    judgements = judged(sends, latency=latency, choosers_reported=reported)
    assert judgements[:2] == [SendJudgement(0, 0, (), None, 0), SendJudgement(1, 2, (), None, 0)]
    assert names(judgements)[2] == (2, "attempts.went-on/retry")


def test_a_send_that_had_to_be_tried_in_full() -> None:
    """A send without an attempt differs if it had queues and time and no broker was faulty."""
    found = RuleDifference(
        DifferenceKind.ATTEMPTS,
        "attempts.stopped-early/first",
        None,
        "a first attempt: there were queues and time, and no broker was at fault",
        "the call threw MQClientException after 0 attempts",
        {"attempts": 0, "error": CLIENT},
    )
    assert judged([WITHOUT_ATTEMPT]) == [SendJudgement(7, 2, (), found, 0)]


@pytest.mark.parametrize("error", [CLIENT, TOO_MUCH])
@pytest.mark.parametrize(("took_ns", "is_right"), [(495 * MS, True), (495 * MS - 1, False)])
def test_without_time_nothing_is_tried(error: str, took_ns: int, is_right: bool) -> None:
    """After 500 ms, less 5 ms for two clocks, a send may end without an attempt."""
    (judgement,) = judged([replace(WITHOUT_ATTEMPT, error=error, start_ns=9 * MS, end_ns=9 * MS + took_ns)])
    assert (judgement == SendJudgement(7, 2, (), None, 0)) is is_right
    assert (judgement.difference is None) is is_right


def test_a_lack_of_time_has_its_exceptions() -> None:
    """IllegalStateException without an attempt is a difference, however long it took."""
    late = replace(WITHOUT_ATTEMPT, error="IllegalStateException", end_ns=900 * MS)
    assert names(judged([late])) == [(7, "attempts.stopped-early/first")]


def test_an_address_may_be_lacking_beside_a_fault_or_a_new_route() -> None:
    """Only MQClientException may mean a missing address, if some broker was faulty between call and end."""
    asked: list[tuple[object, ...]] = []

    def note(*question: object) -> bool:
        asked.append(question)
        return True

    assert names(judged([replace(WITHOUT_ATTEMPT, start_ns=MS)], troubled=note)) == [(7, None)]
    assert asked == [(None, MS, 3 * MS)]
    rerouted = replace(WITHOUT_ATTEMPT, route_after=2)
    assert names(judged([rerouted], lists=("a4 b4", "a4"))) == [(7, None)]
    assert names(judged([replace(WITHOUT_ATTEMPT, error=TOO_MUCH)], troubled=faulty)) == [
        (7, "attempts.stopped-early/first")
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"route": 0},
        {"route_after": 2},
        {"error": NEVER_CALLED_BACK},
        {"error": None, "status": "SEND_OK"},
    ],
)
def test_an_incompletely_seen_send_is_undecided(change: dict[str, Any]) -> None:
    """A send with an unknown route, no callback, or a result without an attempt is undecided; so is any without a witness."""
    (judgement,) = judged([replace(WITHOUT_ATTEMPT, **change)])
    assert judgement == SendJudgement(7, 2, (), None, 0, "no attempt of it was witnessed")
    assert judged([WITHOUT_ATTEMPT], witnessed=False)[0].undecided is not None


@pytest.mark.parametrize(("release", "chooser"), [("4.0.0-incubating", None), ("5.3.3", 3)])
@pytest.mark.parametrize("number", [5, 6])
def test_a_send_without_a_visible_attempt_may_have_had_its_turn(release: str, chooser: int | None, number: int) -> None:
    """A send without an attempt may have taken a queue; only then may the next send skip one."""
    sends = [send(one, f"a{one % 4}", chooser=chooser) for one in range(4)]
    sends += [send(one, f"b{one % 4}", chooser=chooser) for one in range(4, 8)]
    others = [one for one in sends if one.send != number]
    unseen = replace(sends[number], attempts=(), error=NEVER_CALLED_BACK, status=None)
    for given, differing in (([*others, unseen], []), (others, [number + 1])):
        assert [one.send for one in judged(given, release=release) if one.difference is not None] == differing
