"""The rules behind one send, as lines for a terminal."""

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.producer.explain import explain
from tests.oracle.histories import history, routes

ON = ClientSettings(send_latency_fault_enable=True, send_msg_timeout_ms=500)


def lines_of(release: str, text: str, send: int, *, settings: ClientSettings = ON, lists: str = "a2 b2") -> list[str]:
    return explain(release, settings, routes(lists), history(text), send=send)


def test_a_failed_attempt_and_its_retry() -> None:
    """A retry is explained with index, queue, time spent, observation and note of each attempt."""
    assert lines_of("5.3.3", "0 a0 1 | 20 a1 1 refused > b1 2", 1) == [
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


def test_a_difference_is_explained_by_the_choice_of_the_rules() -> None:
    """A difference is explained by the rules' choice and the observation."""
    lines = lines_of("5.3.3", "0 a0 1 | 20 b1 1", 1)
    assert lines[-4:] == [
        "  1 hidden state left",
        "  DIFFERS queue.out-of-turn/first",
        "    expected: queue 1 of a (1 of 4 queues)",
        "    observed: attempt 1 went to queue 1 of b",
    ]
    assert "  took queue 1 of a: the first that is acceptable and whose broker is available" in lines


def test_lines_have_index_queue_and_time_without_fault_latency() -> None:
    """Without fault latency the lines have index, queue and time spent."""
    assert lines_of("5.3.3", "0 a0 1 | 20 a1 1", 1, settings=ClientSettings())[1:4] == [
        "  index after position 0 (of 0–3)",
        "  took queue 1 of a: next in turn",
        "  spent so far: 0–1 ms, of 3,000 ms",
    ]


def test_an_explicit_queue_is_explained_without_rules() -> None:
    """A send to an explicit queue is explained by observations only."""
    assert lines_of("5.3.3", "0 =q1 a1 1", 0)[1:3] == [
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
    assert lines_of("5.3.3", "0 r7 a0 1", 0) == [
        "send 0 of thread 0 (plain), 1.2 ms, by the rules of release 5.3.3",
        "  seen: attempt 1 on queue 0 of a, 1.0 ms, SEND_OK",
        "  seen: the call returned SEND_OK after 1 attempt",
        "  0 hidden states left",
        "  undecided: the queues the client knew are not in the trace",
    ]


def test_an_unknown_send_is_the_users_mistake() -> None:
    """An unknown send is a UsageError with the number of sends."""
    with pytest.raises(UsageError, match="2 sends"):
        lines_of("5.3.3", "0 a0 1 | 20 a1 1", 7)
