"""The first difference of two answers, and the states around it."""

import json
from typing import Any

import pytest

from rocketdiff.core.errors import HarnessError
from rocketdiff.simulation.comparison import Compared, first_difference, visible
from rocketdiff.simulation.comparison.answers import answer_line

STATE = {"index": 3, "worst_index": None, "queues": ["a0", "b0"], "faults": {"a": {"latency_ms": 5}}}


def line(step: int, state: dict[str, Any] | None = None, /, **content: Any) -> str:
    data = {"script": "S", "step": step, **content}
    return json.dumps(data if state is None else {**data, "state": state})


def send(*attempts: dict[str, Any], **end: Any) -> dict[str, Any]:
    call = {"result": "ok", "status": "SEND_OK", "broker": "a", "queue_id": 0, "elapsed_ms": 5, **end}
    return {**call, "attempts": list(attempts)}


def attempt(**changes: Any) -> dict[str, Any]:
    return {"broker": "a", "queue_id": 0, "timeout_ms": 3_000, "elapsed_ms": 5, "outcome": "ok"} | changes


def found(left: str, right: str) -> tuple[Compared, str, tuple[Any, Any]]:
    difference = first_difference("S", [left], [right])
    assert difference is not None
    return difference.compared, difference.where, difference.values


def test_equal_answers_have_no_difference() -> None:
    """Equal answers have no difference."""
    assert (
        first_difference(
            "S",
            [line(0, select={"broker": "a", "queue_id": 0})] * 2,
            [line(0, select={"broker": "a", "queue_id": 0})] * 2,
        )
        is None
    )
    assert first_difference("S", [], []) is None


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (
            send(attempt()), send(attempt(queue_id=1), attempt(), queue_id=1),
            (Compared.QUEUE, "send.attempts[0]", ("queue 0 of a", "queue 1 of a")),
        ),
        (
            send(attempt()), send(attempt(timeout_ms=2_900, elapsed_ms=9)),
            (Compared.ATTEMPT_TIMEOUT, "send.attempts[0].timeout_ms", (3_000, 2_900)),
        ),
        (
            send(attempt(outcome="timeout")), send(attempt(outcome="refused"), attempt()),
            (Compared.ATTEMPT_OUTCOME, "send.attempts[0].outcome", ("timeout", "refused")),
        ),
        (
            send(attempt(outcome="code", code=1)), send(attempt(outcome="code", code=2)),
            (Compared.ATTEMPT_CODE, "send.attempts[0].code", (1, 2)),
        ),
        (
            send(attempt(), result="exception"), send(attempt(), attempt()),
            (Compared.ATTEMPTS, "send.attempts", (1, 2)),
        ),
        (
            send(attempt(vip=True)), send(attempt()),
            (Compared.ATTEMPT_PORT, "send.attempts[0].vip", (True, None)),
        ),
        (
            send(result="exception", exception="MQClientException", code=10_002), send(result="exception", exception="RemotingTooMuchRequestException", code=None),
            (Compared.EXCEPTION, "send.exception", ("MQClientException", "RemotingTooMuchRequestException")),
        ),
        (
            send(result="exception", exception="MQBrokerException", code=1), send(result="exception", exception="MQBrokerException", code=2),
            (Compared.CODE, "send.code", (1, 2)),
        ),
        (send(), send(result="pending"), (Compared.RESULT, "send.result", ("ok", "pending"))),
        (send(), send(elapsed_ms=6), (Compared.ELAPSED, "send.elapsed_ms", (5, 6))),
    ],
)  # fmt: skip
def test_a_send_is_looked_through_from_cause_to_effect(
    left: dict[str, Any], right: dict[str, Any], expected: tuple[Compared, str, tuple[Any, Any]]
) -> None:
    """The first different attempt comes before the end of the call."""
    assert found(line(4, send=left), line(4, send=right)) == expected


def test_a_selection_differs_in_its_queue_or_its_exception() -> None:
    """Selections differ in their queue or exception."""
    chosen = line(0, select={"broker": "a", "queue_id": 0})
    assert found(chosen, line(0, select={"broker": "b", "queue_id": 2})) == (
        Compared.QUEUE, "select", ("queue 0 of a", "queue 2 of b"),
    )  # fmt: skip
    assert found(chosen, line(0, select={"exception": "ArithmeticException"}))[0] is Compared.EXCEPTION


@pytest.mark.parametrize(
    ("part", "compared", "where"),
    [
        ("index", Compared.INDEX, "dump.index"),
        ("worst_index", Compared.WORST_INDEX, "dump.worst_index"),
        ("queues", Compared.QUEUES, "dump.queues"),
        ("clock", Compared.CLOCK, "dump.clock"),
        ("connections", Compared.CONNECTIONS, "dump.connections"),
    ],
)
def test_each_part_of_a_dump_has_its_name(part: str, compared: Compared, where: str) -> None:
    """Each part of a dump has its own kind of difference."""
    assert found(line(5, dump={part: 1}), line(5, dump={part: 2}))[:2] == (compared, where)


def test_of_a_fault_table_the_item_is_named() -> None:
    """The item of a fault table is named; a missing one is None."""
    left, right = (
        line(5, dump={"faults": {"a": {"latency_ms": 5}, "b": {}}}),
        line(5, dump={"faults": {"b": {}, "c": {}}}),
    )
    assert found(left, right) == (Compared.FAULTS, "dump.faults.a", ({"latency_ms": 5}, None))


def test_in_a_trace_the_first_state_that_differs_is_found() -> None:
    """In a trace the first different state is found although the answers are equal."""
    first = line(0, STATE, update=True)
    left, right = (line(1, STATE | {"index": index}, select={"broker": "a", "queue_id": 0}) for index in (4, 5))
    difference = first_difference("S", [first, left], [first, right])
    assert difference is not None
    assert (difference.compared, difference.where, difference.values) == (Compared.INDEX, "state.index", (4, 5))
    assert difference.before == STATE
    assert difference.states == (STATE | {"index": 4}, STATE | {"index": 5})
    assert (difference.step, difference.place, difference.line) == (1, "step 1", 1)


def test_an_answer_that_comes_before_its_step_is_a_difference_of_order() -> None:
    """Answers of different steps differ in order, and are not compared further."""
    assert found(line(4, n=1, send=send()), line(4, n=2, send=send())) == (
        Compared.ORDER, "", ("send of step 4, send 1", "send of step 4, send 2"),
    )  # fmt: skip


def test_an_answer_too_many_is_a_difference() -> None:
    """An extra answer is a difference of order."""
    shared = line(0, select={"broker": "a", "queue_id": 0})
    difference = first_difference("S", [shared, line(1, dump={})], [shared])
    assert difference is not None
    assert difference.compared is Compared.ORDER
    assert difference.values == ("dump of step 1", None)
    assert difference.lines == (line(1, dump={}), None)


def test_the_applications_view_has_no_states() -> None:
    """The application's view has no states."""
    lines = [line(0, STATE, update=True), line(1, STATE, select={"broker": "a", "queue_id": 0})]
    assert visible(lines) == [line(1, select={"broker": "a", "queue_id": 0})]


@pytest.mark.parametrize(
    "text", ["", "null", "[]", '{"script": "S", "step": 1}', '{"step": 1, "send": {}, "select": {}}']
)
def test_a_line_that_no_host_may_print_is_an_error_of_ours(text: str) -> None:
    """An invalid line is an error of the harness, not a difference."""
    with pytest.raises(HarnessError, match="an answer line"):
        answer_line(text)


def test_a_timeline_has_its_entry_in_the_place() -> None:
    """The place of an answer names its timeline entry and its callback."""
    assert answer_line(line(2, at=3, n=4, callback=2, send=send())).place == "step 2, entry 3, send 4, callback 2"
