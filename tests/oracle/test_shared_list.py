"""
Up to 5.1.3, except in 4.9.8, a thread may read its selected queue while another thread's fallback rewrites it.

The list is a0 a1 a2 b0 b1, without retries. Thread 0's a0 fails, so a is avoided. Thread 1's b0 fails at 55.1 ms, so its
next send, at 55.25 ms, falls back on a, the faster one, and rewrites element 3 from b0 to a1. Thread 0 selected element 3
just before the failure; its attempt lasts until 57.0 ms.
"""

from dataclasses import replace

import pytest

from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.choices import ChoiceExplorer, ChoiceTape
from rocketdiff.oracle.producer import interleave
from rocketdiff.oracle.producer.replay import replay_for
from rocketdiff.oracle.producer.states.decision_point import DecisionPoint
from rocketdiff.oracle.producer.states.hidden_state import HiddenState, PendingReads, PendingRewrite
from rocketdiff.oracle.producer.states.shared_list import (
    begin_reading,
    begin_rewriting,
    catch_up,
    may_become,
    read_by_ns,
)
from rocketdiff.oracle.producer.states.uncertain import UncertainPublishInfo
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.send_loop import SendLoop
from rocketmq_reference.rules.producer.settings import SendSettings
from tests.oracle.histories import MS, attempt_of, history, routes
from tests.oracle.judging import signatures

TEXT = (
    "t1 0 a0 1 | t0 10 a0 0.1 refused ! client/10001 | t1 50 b0 5 refused ! client/10001 | t0 {at} {queue} {lasts} |"
    " t1 55.25 {after} 1"
)
REWRITING = ("4.9.7", "5.1.3")

USED = "avoidance.used-avoided-broker/first"
OTHER_CLASS = "error.other-class/expected=none/seen=MQClientException/first"


def found(
    release: str,
    queue: str,
    named: str | None = None,
    *,
    at: float = 54.9,
    lasts: str = "2",
    after: str = "a1",
) -> list[tuple[int, str]]:
    """Return differences by send; named: the queue in thread 0's result, if not that of its attempt."""
    sends = history(TEXT.format(queue=queue, at=at, lasts=lasts, after=after))
    if named is not None:
        sends[3] = replace(sends[3], broker=named[0], queue_id=int(named[1:]))
    settings = ClientSettings(send_latency_fault_enable=True, send_msg_timeout_ms=300, retry_times_when_send_failed=0)
    judgements = list(replay_for(release, settings, routes("a3 b2")).judge_all(sends))
    assert all(one.undecided is None for one in judgements)
    return [(one.send, one.difference.signature) for one in judgements if one.difference is not None]


@pytest.mark.parametrize("release", REWRITING)
@pytest.mark.parametrize("queue", ["b0", "a0", "b1", "a1"])
def test_a_hook_reads_before_between_or_after_the_two_writes_of_a_rewrite(release: str, queue: str) -> None:
    """Old, new broker with old queue id, old broker with new queue id (two reads as well), new."""
    assert found(release, queue) == []


@pytest.mark.parametrize("queue", ["b0", "a0", "b1", "a1"])
def test_an_attempt_may_end_while_the_element_is_rewritten(queue: str) -> None:
    """Thread 0's attempt ends at 55.3 ms, within the window of the rewrite."""
    assert found("4.9.7", queue, lasts="0.3") == []


def point_at(at_ns: int, thread: int = 0, *, chooses: bool = True, seen: str = "a0") -> DecisionPoint:
    send = replace(history(f"0 {seen} 1")[0], thread=thread)
    return DecisionPoint(send, 0, at_ns, 90, None, chooses=chooses, followed_by=send.attempts[0])


def elements_at(
    point: DecisionPoint,
    rewrites: tuple[PendingRewrite, ...],
    readings: dict[int, PendingReads],
    pick: int | None = None,
) -> set[str]:
    """
    The conditions in which a point may find b0, the first of two elements, beside rewrites of threads 1, 2, …

    pick: the element that thread 0 selected for its attempt.
    """
    explorer, left = ChoiceExplorer(), set()
    while True:
        state = HiddenState(dialect_of("4.9.7"), explorer, latency_on=True)
        state.infos[1] = UncertainPublishInfo([("b", 0), ("b", 1)], {}, explorer)
        if pick is not None:
            mind = state.thread_state(0)
            mind.version = 1
            mind.loop = SendLoop(state.dialect, SendSettings(), state.selector(0, mind, ChoiceTape(explorer)))
            mind.loop.pick = pick
        for thread, reading in readings.items():
            begin_reading(state, thread, reading)
        for thread, rewrite in enumerate(rewrites, 1):
            begin_rewriting(state, thread, rewrite)
        if catch_up(state, point, explorer):
            left.add("".join(map(str, state.infos[1].queues[0])))
        if not explorer.advance():
            return left


TO_A1 = PendingRewrite(1, 0, "a", 1, 10, 20)
"""Thread 1 rewrites b0 to a1 between 10 and 20 ns."""


@pytest.mark.parametrize(
    ("at_ns", "thread", "hook", "elements"),
    [
        (20, 0, None, {"b0", "a0"}),
        (21, 0, None, {"a1"}),
        (5, 0, None, {"b0", "a0"}),
        (5, 1, None, {"a1"}),
        (20, 0, ("a", 1), {"a1"}),
        (20, 0, ("b", 0), {"b0", "a0"}),
        (20, 0, ("b", 1), {"a1"}),
        (20, 0, ("c", 0), set()),
    ],
    ids=["its window", "afterwards", "before it", "its own", "a read after it", "a read before it", "torn", "no such"],
)
def test_a_rewrite_is_complete_after_its_window(
    at_ns: int, thread: int, hook: tuple[str, int] | None, elements: set[str]
) -> None:
    """
    In which condition a choice that begins at ``at_ns`` may find the element.

    hook: what the thread's last attempt read of the element.
    """
    readings = {} if hook is None else {thread: PendingReads(1, 0, hook, None, 90)}
    assert elements_at(point_at(at_ns, thread), (TO_A1,), readings) == elements


def test_two_rewrites_of_one_element_happen_in_either_order() -> None:
    """A thread that read c, 0 and then a finds thread 2's rewrite to c0 before that of thread 1."""
    rewrites = TO_A1, TO_A1._replace(broker="c", queue_id=0)
    for hook, elements in ((("c", 0, "a"), {"a0"}), (("a", 0, "c"), {"c0", "c1"}), (("a", 0, "b"), set())):
        assert elements_at(point_at(15), rewrites, {0: PendingReads(1, 0, hook, None, 90)}) == elements


@pytest.mark.parametrize(("pick", "elements"), [(None, {"b0"}), (1, {"b0"}), (0, {"b0", "a0"})])
def test_a_note_reads_the_broker_of_the_element_that_its_thread_selected(pick: int | None, elements: set[str]) -> None:
    """None of a send to a given queue, also while its result is still to be read of another element."""
    for readings in ({}, {0: PendingReads(1, 1, (), ("c", 5), 90)}):
        assert elements_at(point_at(15, chooses=False), (TO_A1,), readings, pick) == elements


@pytest.mark.parametrize(("by_ns", "elements"), [(9, set()), (10, {"a1"})])
def test_reads_that_end_before_a_rewrite_begins_do_not_see_it(by_ns: int, elements: set[str]) -> None:
    """Thread 9 reported a1, to which thread 1 rewrites the element from 10 ns on."""
    assert elements_at(point_at(25), (TO_A1,), {9: PendingReads(1, 0, ("a", 1), None, by_ns)}) == elements


@pytest.mark.parametrize(
    ("broker", "queue_id", "pending"),
    [("a", 1, ("a", 1)), ("a", 0, ("a", 0)), ("b", 1, (None, 1)), ("b", 0, None)],
)
def test_only_halves_of_a_rewrite_that_change_anything_are_pending(
    broker: str, queue_id: int, pending: tuple[str | None, int] | None
) -> None:
    """Of an element that is b0: a new broker and id, the broker first, an id alone, and nothing."""
    state = HiddenState(dialect_of("4.9.7"), ChoiceExplorer(), latency_on=True)
    state.infos[1] = UncertainPublishInfo([("b", 0)], {}, ChoiceExplorer())
    begin_rewriting(state, 1, TO_A1._replace(broker=broker, queue_id=queue_id))
    assert [(one.broker, one.queue_id) for one in state.rewritings.values()] == ([] if pending is None else [pending])
    assert state.infos[1].queues == [Queue("b", 0)]


def test_a_thread_reads_after_its_own_rewrite_and_only_of_a_list_in_use() -> None:
    """Of list 2, which no thread uses any more, nothing is read."""
    state = HiddenState(dialect_of("4.9.7"), ChoiceExplorer(), latency_on=True)
    state.infos[1] = UncertainPublishInfo([("b", 0)], {}, ChoiceExplorer())
    begin_rewriting(state, 1, TO_A1)
    for thread, version in ((1, 1), (2, 1), (3, 2)):
        begin_reading(state, thread, PendingReads(version, 0, ("b", 0), ("b", 0, "c"), 90))
    assert {thread: one.hook for thread, one in state.readings.items()} == {1: ("b", 0), 2: (), 3: ("b", 0)}


@pytest.mark.parametrize(
    ("error", "start_ms", "end_ms", "by_ms"),
    [
        ("RemotingTimeoutException", 1, 301, 4),
        ("RemotingTimeoutException", 1, 251, 1),
        ("RemotingTimeoutException", 400, 700, 700),
        (None, 1, 301, 301),
    ],
    ids=["its whole timeout", "less", "its time was spent before", "answered"],
)
def test_an_attempt_that_timed_out_read_its_queue_before_it_waited(
    error: str | None, start_ms: int, end_ms: int, by_ms: int
) -> None:
    """With a timeout of 300 ms for the call from 0 on, 2 ms of which may be lost by rounding."""
    (send,) = history("0 a0 1")
    assert read_by_ns(send, attempt_of(0, "a", 0, start_ms * MS, end_ms * MS, error), 300) == by_ms * MS


@pytest.mark.parametrize(
    ("rewrites", "by_ns", "elements"),
    [
        ((), 4, set()),
        ((), 5, {"b0"}),
        ((TO_A1,), 4, {"b0", "a0"}),
        ((TO_A1._replace(position=1),), 4, set()),
        ((TO_A1, TO_A1._replace(position=1)), 4, {"b0", "a0"}),
    ],
    ids=["none", "reads to come", "one", "of another element", "of both"],
)
def test_reads_of_another_thread_need_a_rewrite_to_come(
    rewrites: tuple[PendingRewrite, ...], by_ns: int, elements: set[str]
) -> None:
    """Thread 9 reported a1 and has read the element by ``by_ns``; a choice from 5 ns on."""
    assert elements_at(point_at(5), rewrites, {9: PendingReads(1, 0, ("a", 1), None, by_ns)}) == elements


@pytest.mark.parametrize(
    ("seen", "pending", "after", "may"),
    [
        ("a0", (), (), True),
        ("a2", (), (), False),
        ("a2", (), ("a1",), False),
        ("a2", (), ("a1", "a1"), True),
        ("a2", (TO_A1,), ("a1",), True),
        ("a2", (TO_A1._replace(position=1),), ("a1",), False),
        ("b2", (TO_A1, TO_A1), (), False),
        ("a2", (), (None,), True),
        ("b1", (TO_A1._replace(broker="b"),), (), True),
    ],
)
def test_whether_an_element_may_have_become_the_queue_that_was_seen(
    seen: str, pending: tuple[PendingRewrite, ...], after: tuple[str | None, ...], may: bool
) -> None:
    """An element that was a0: of two rewrites one may hide the other's queue id, and a call that ended any."""
    state = HiddenState(dialect_of("4.9.7"), ChoiceExplorer(), latency_on=True)
    state.rewritings = dict(enumerate(pending, 1))
    rivals = tuple(point_at(5, seen=one) if one else replace(point_at(5), followed_by=None) for one in after)
    assert may_become(state, replace(point_at(5, seen=seen), rivals=rivals), Queue("a", 0), (1, 0)) is may


@pytest.mark.parametrize("release", REWRITING)
def test_a_queue_that_the_element_never_was_is_a_difference(release: str) -> None:
    """No order of reads and writes gives element 3 the id 2; the rest of the trace is explained again."""
    assert found(release, "a2") == [(3, "avoidance.used-avoided-broker/first")]


@pytest.mark.parametrize(
    ("queue", "later", "orders", "expected"),
    [
        ("b1", "", 64, []),
        ("a1", "", 64, []),
        ("b2", "", 64, ["queue.out-of-turn/first"]),
        ("a2", "", 64, [USED]),
        ("a2", "| t0 80 a0 1 | t0 100 a0 1", 64, [USED]),
        ("a2", "| t0 400 =q0 a0 1 ! client/10001", 64, [USED, OTHER_CLASS]),
        ("a2", "", 1, ["undecided"]),
    ],
)
def test_a_rewrite_of_another_element_does_not_explain_a_read(
    queue: str, later: str, orders: int, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Thread 1 rewrites b1 to a1, and thread 2 an element of its own; undecided if only so many orders are followed.

    After a difference everything is explained again, to the last call's end.
    """
    monkeypatch.setattr(interleave, "ORDERS_FOLLOWED", orders)
    text = (
        "t1 0 a0 1 | t2 1 a2 1 | t0 10 a0 0.1 refused ! client/10001 | t0 20 b0 1 | t1 50 b0 5 refused ! client/10001"
        f" | t0 54.9 {queue} 2 | t1 55.25 a1 1 | t2 55.27 a2 1 {later}"
    )
    assert signatures("4.9.7", text, "a3 b3", on=True, timeout=300, retries=0) == expected


def test_a_result_is_that_of_the_last_attempt() -> None:
    """Only its element is read again for the result."""
    (send,) = history("0 a0 1 refused > b0 1")
    send = replace(send, broker="b", queue_id=1)
    transitions = replay_for("4.9.7", ClientSettings(), routes("a3 b2")).transitions
    assert [transitions._named(send, seen) for seen in send.attempts] == [None, ("b", 0, 1, "b")]
    for bare in (replace(send, broker=None), replace(send, queue_id=None)):
        assert transitions._named(bare, send.attempts[-1]) is None


@pytest.mark.parametrize("queue", ["a0", "a1"])
def test_the_fallback_of_a_retry_rewrites_too(queue: str) -> None:
    """Thread 1's retry rewrites b1 to a0, or half of it to a1, after thread 0 selected it; its call goes on."""
    text = f"t1 0 a0 1 | t0 10 a0 0.1 refused > b0 1 | t0 30 b0 1 | t1 50 b0 5 refused > a0 5 | t0 54.9 {queue} 2"
    assert signatures("4.9.7", text, "a2 b2", on=True, retries=1) == []


@pytest.mark.parametrize("queue", ["b0", "a0", "b1", "a1"])
def test_a_selector_s_element_is_rewritten_as_well(queue: str) -> None:
    """Thread 0 selects element 3 itself; in 4.9.8 it stays b0, and it never becomes a2."""
    assert found("4.9.7", f"=s3 {queue}") == []
    assert [send for send, _ in found("4.9.8", f"=s3 {queue}")] == ([] if queue == "b0" else [3])
    assert [send for send, _ in found("4.9.7", "=s3 a2")] == [3]


@pytest.mark.parametrize("queue", ["a0", "b1", "a1", "a2"])
def test_where_the_fallback_leaves_the_list_alone_nothing_but_the_old_queue_is_explained(queue: str) -> None:
    """In 4.9.8 the fallback has a queue of its own."""
    assert found("4.9.8", "b0") == []
    assert [send for send, _ in found("4.9.8", queue)][:1] == [3]


@pytest.mark.parametrize(
    ("at", "lasts"),
    [(54.0, "0.5"), (50.9, "300.0 timeout ! client/10002")],
    ids=["ended before", "waited its whole timeout afterwards"],
)
def test_a_rewrite_after_the_reads_does_not_explain_them(at: float, lasts: str) -> None:
    """An attempt that ended, or waited its whole timeout, has read its queue before the other thread's fallback."""
    assert [send for send, _ in found("4.9.7", "a1", at=at, lasts=lasts)][:1] == [3]


@pytest.mark.parametrize(
    ("release", "queue", "named", "is_explained"),
    [
        ("4.9.7", "b0", "a0", True),
        ("4.9.7", "b0", "a1", True),
        ("4.9.7", "a1", "b0", False),
        ("4.9.7", "b0", "b1", False),
        ("5.1.3", "b0", "b1", True),
        ("5.1.3", "a1", "b1", True),
        ("5.1.3", "b0", "a1", False),
        ("4.9.8", "b0", "b1", False),
    ],
)
def test_a_result_names_what_was_read_after_the_hook(release: str, queue: str, named: str, is_explained: bool) -> None:
    """The id is read after the hook; the broker after that (to 4.9.8) or before, with the address (from 5.0.0)."""
    wrong = [(3, "queue.result-names-other-queue/first")]
    assert found(release, queue, named) == ([] if is_explained else wrong)
