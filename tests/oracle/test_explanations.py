"""The rules behind one send, as lines for a terminal: whole explanations, then each line."""

from collections.abc import Sequence

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.core.records.sending import Attempt
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.explain import attempt_lines, explain, story_lines
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.queue_choice.events import (
    BudgetChecked,
    Charged,
    Chosen,
    Event,
    Forgotten,
    IndexRead,
    IndexReset,
    Skip,
    Skipped,
    Swallowed,
    Tier,
)
from tests.oracle.histories import MS, attempt_of, history, routes, send_of

ON = ClientSettings(send_latency_fault_enable=True, send_msg_timeout_ms=500)


def explained(release: str, text: str, send: int, *, settings: ClientSettings = ON, lists: str = "a2 b2") -> list[str]:
    return explain(release, settings, routes(lists), history(text), send=send)


def test_a_failed_attempt_and_its_retry() -> None:
    """A retry is explained with index, queue, time spent, observation and note of each attempt."""
    assert explained("5.3.3", "0 a0 1 | 20 a1 1 refused > b1 2", 1) == [
        "send 1 of thread 0 (plain), 3.3 ms, by the rules of release 5.3.3",
        "  index after position 0 (of 0–3)",
        "  took queue 1 of a: the first that is acceptable and whose broker is available",
        "  spent so far: 0–1 ms, of 500 ms",
        "  seen: attempt 1 on queue 1 of a, 1.0 ms, RemotingConnectException",
        "  noted a: took 0–2 ms, counts as failed: avoided for 10,000 ms",
        "  a retry restarts the index at random",
        "  index after position 2 (of 0–3)",
        "  took queue 1 of b: the first that is acceptable and whose broker is available",
        "  spent so far: 0–2 ms, of 500 ms",
        "  seen: attempt 2 on queue 1 of b, 2.0 ms, SEND_OK",
        "  noted b: took 1–3 ms, counts by its latency: not avoided",
        "  seen: the call returned SEND_OK after 2 attempts",
        "  1 hidden state left",
    ]


def test_a_call_like_an_earlier_one_is_explained_by_the_rules() -> None:
    """Not by the earlier call's outcome, which has no story."""
    off = ClientSettings(send_msg_timeout_ms=500)
    assert explained("5.3.3", "0 a0 1 | 20 a1 1 | 40 a0 1 | 60 a1 1", 3, settings=off, lists="a2")[1:3] == [
        "  index after position 0 (of 0–1)",
        "  took queue 1 of a: next in turn",
    ]


def test_a_difference_is_explained_by_the_choice_of_the_rules() -> None:
    """A difference is explained by the rules' choice and the observation."""
    lines = explained("5.3.3", "0 a0 1 | 20 b1 1", 1)
    assert lines[-4:] == [
        "  1 hidden state left",
        "  DIFFERS queue.out-of-turn/first",
        "    expected: queue 1 of a (1 of 4 queues)",
        "    observed: attempt 1 went to queue 1 of b",
    ]
    assert "  took queue 1 of a: the first that is acceptable and whose broker is available" in lines


def test_lines_have_index_queue_and_time_without_fault_latency() -> None:
    """Without fault latency the lines have index, queue and time spent."""
    assert explained("5.3.3", "0 a0 1 | 20 a1 1", 1, settings=ClientSettings())[1:4] == [
        "  index after position 0 (of 0–3)",
        "  took queue 1 of a: next in turn",
        "  spent so far: 0–1 ms, of 3,000 ms",
    ]


def test_positions_are_of_the_older_list_while_it_changes() -> None:
    """Four queues before, two after."""
    lines = explain("5.3.3", ClientSettings(), routes("a2 b2", "a2"), history("0 a0 1 | 20 r1-2 a1 1"), send=1)
    assert "  index after position 0 (of 0–3)" in lines


def test_an_explicit_queue_is_explained_without_rules() -> None:
    """A send to an explicit queue is explained by observations only."""
    assert explained("5.3.3", "0 =q1 a1 1", 0)[1:3] == [
        "  seen: attempt 1 on queue 1 of a, 1.0 ms, SEND_OK",
        "  seen: the call returned SEND_OK after 1 attempt",
    ]


def test_an_explanation_leaves_out_rules_of_other_threads() -> None:
    """An explanation leaves out the rules of other threads."""
    lines = explain(
        "5.3.3", ON, routes("a2 b2"), history("t0 0 a0 1 | t1 0 b0 1 | t0 20 a1 1 | t1 20 b1 1"), send=3, thread=1
    )
    assert lines[2] == "  took queue 1 of b: the first that is acceptable and whose broker is available"
    assert not any("of a" in line for line in lines)


def test_an_undecided_send_has_a_reason() -> None:
    """An undecided send has observations and a reason: its list is not in the trace."""
    assert explained("5.3.3", "0 r7 a0 1", 0) == [
        "send 0 of thread 0 (plain), 1.2 ms, by the rules of release 5.3.3",
        "  seen: attempt 1 on queue 0 of a, 1.0 ms, SEND_OK",
        "  seen: the call returned SEND_OK after 1 attempt",
        "  0 hidden states left",
        "  undecided: the queues the client knew are not in the trace",
    ]


def test_an_unknown_send_is_the_users_mistake() -> None:
    """An unknown send is a UsageError with the number of sends."""
    with pytest.raises(UsageError, match="2 sends"):
        explained("5.3.3", "0 a0 1 | 20 a1 1", 7)


A0, A1, B0, B1 = Queue("a", 0), Queue("a", 1), Queue("b", 0), Queue("b", 1)
ATTEMPTS = (
    attempt_of(0, "a", 0, 0, 1_500_000, "MQBrokerException", 2),
    attempt_of(1, "b", 1, 2 * MS, 1_236 * MS, "RemotingTimeoutException"),
    attempt_of(2, "a", 1, 9 * MS, 10 * MS, None, None, "FLUSH_DISK_TIMEOUT"),
    attempt_of(3, "b", 0, 9 * MS, 10 * MS),
)
SEEN = [
    "seen: attempt 1 on queue 0 of a, 1.5 ms, MQBrokerException (2)",
    "seen: attempt 2 on queue 1 of b, 1,234.0 ms, RemotingTimeoutException",
    "seen: attempt 3 on queue 1 of a, 1.0 ms, FLUSH_DISK_TIMEOUT",
    "seen: attempt 4 on queue 0 of b, 1.0 ms, ok",
]


def lines_of(*story: Event, attempts: Sequence[Attempt] = (), queues: int = 8) -> list[str]:
    """Return the lines of events beside these attempts."""
    send = send_of(0, 0, SendKind.PLAIN, 0, 0, 9 * MS, attempts=tuple(attempts))
    return list(story_lines(story, send, queues))


def test_lines_of_attempts() -> None:
    """An attempt's line has its duration, and its code or status."""
    send = send_of(0, 0, SendKind.PLAIN, 0, 0, 9 * MS, attempts=ATTEMPTS)
    assert list(attempt_lines(send, 0, 4)) == SEEN
    assert list(attempt_lines(send, 1, 3)) == SEEN[1:3]


def test_an_attempt_follows_the_look_at_its_budget() -> None:
    """Each check of the budget is followed by one attempt; other attempts come last."""
    spent = BudgetChecked(7, 3_000)
    line = "spent so far: 7 ms, of 3,000 ms"
    assert lines_of(spent, spent, attempts=ATTEMPTS) == [line, SEEN[0], line, *SEEN[1:]]
    assert lines_of(attempts=ATTEMPTS[:1]) == SEEN[:1]


def test_only_the_first_tick_of_a_selection_has_a_line() -> None:
    """Only the first tick of a selection is shown, where it began."""
    spent = BudgetChecked(0, None)
    story = (IndexRead(17), IndexRead(18), spent, IndexRead(19))
    assert lines_of(*story, queues=8) == [
        "index after position 1 (of 0–7)",
        "spent so far: 0 ms, each attempt has its own timeout",
        "index after position 3 (of 0–7)",
    ]


def test_an_unknown_index_may_be_followed_by_any_queue() -> None:
    """With an unknown index, or no list, the next queue may be any."""
    unknown = ["index not known: the next queue may be any"]
    assert (lines_of(IndexRead(None)), lines_of(IndexRead(3), queues=0), lines_of(IndexRead(None), queues=0)) == (
        unknown,
    ) * 3


def test_queues_skipped_for_one_reason_share_a_line() -> None:
    """Skipped queues share a line per broker and reason, with ticks in between or not."""
    last = [Skipped(queue, Skip.LAST_BROKER, None) for queue in (A0, A1, B0)]
    avoided = Skipped(B1, Skip.AVOIDED, 70)
    story = (IndexRead(1), last[0], IndexRead(2), last[1], IndexRead(3), last[2], avoided, Chosen(A0, Tier.ANY))
    assert lines_of(*story) == [
        "index after position 1 (of 0–7)",
        "skipped queues 0, 1 of a: the previous attempt failed there",
        "skipped queue 0 of b: the previous attempt failed there",
        "skipped queue 1 of b: the broker is avoided for another 70 ms",
        "took queue 0 of a: no other candidate; next in turn on any broker",
    ]


@pytest.mark.parametrize(
    ("reason", "remaining_ms", "why"),
    [
        (Skip.LAST_BROKER, 70, "the previous attempt failed there"),
        (Skip.NOT_LAST_BROKER, None, "in this release a retry prefers the failed broker"),
        (Skip.AVOIDED, 70, "the broker is avoided for another 70 ms"),
        (Skip.AVOIDED, None, "the broker is avoided"),
        (Skip.UNREACHABLE, 70, "the broker counts as unreachable"),
    ],
)
def test_why_a_queue_was_passed_over(reason: Skip, remaining_ms: int | None, why: str) -> None:
    """A skipped queue's line has the reason, and the remaining time of an avoidance only."""
    story = (Skipped(A1, reason, remaining_ms), Chosen(B0, Tier.ROTATION))
    assert lines_of(*story)[0] == f"skipped queue 1 of a: {why}"


@pytest.mark.parametrize(
    ("tier", "why"),
    [
        (Tier.ROTATION, "next in turn"),
        (Tier.OTHER_BROKER, "the first of another broker"),
        (Tier.AVAILABLE, "the first that is acceptable and whose broker is available"),
        (Tier.REACHABLE, "no broker is available; the first whose broker is reachable"),
        (Tier.BEST_KNOWN, "no queue is acceptable; the best known broker"),
        (Tier.ANY, "no other candidate; next in turn on any broker"),
    ],
)
def test_why_a_queue_was_taken(tier: Tier, why: str) -> None:
    """A chosen queue's line has the reason, and whether the list was rewritten."""
    assert lines_of(Chosen(B1, tier)) == [f"took queue 1 of b: {why}"]
    assert lines_of(Chosen(B1, tier, mutated=True)) == [f"took queue 1 of b: {why}, written into the shared list"]


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Charged("a", 1_500, 30_000, isolated=False, reachable=True), "noted a: took 1,500 ms, counts by its latency: avoided for 30,000 ms"),
        (Charged("a", 3, 0, isolated=False, reachable=True), "noted a: took 3 ms, counts by its latency: not avoided"),
        (Charged("b", 3, 10_000, isolated=True, reachable=True), "noted b: took 3 ms, counts as failed: avoided for 10,000 ms"),
        (Charged("b", 3, 10_000, isolated=True, reachable=False), "noted b: took 3 ms, counts as failed: avoided for 10,000 ms, unreachable"),
        (Forgotten("b"), "forgot b: it has no write queues"),
        (Swallowed("ArithmeticException"), "met a ArithmeticException, which the client swallows"),
        (IndexReset(None), "a retry restarts the index at random"),
    ],
)  # fmt: skip
def test_everything_else_has_a_line(event: Event, line: str) -> None:
    """Every other event has its own line."""
    assert lines_of(event) == [line]
