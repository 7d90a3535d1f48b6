"""The state before a script's first answer."""

from typing import Any

from rocketdiff.simulation.comparison import AnswerDifference, first_difference, with_initial_state
from rocketdiff.simulation.script import NamedScript, parse_script
from rocketdiff.simulation.virtual import run_reference
from rocketmq_reference.dialects import dialect_of


def before(*steps: dict[str, Any], trace: bool = True) -> dict[str, Any] | None:
    """The state before the first answer that chose broker a instead of b."""
    data = {"format": 1, "depth": "send-loop", "route": {"a": 1, "b": 1}, "start_index": 7, "steps": list(steps)}
    one = NamedScript("S", parse_script(data, "S"))
    lines = run_reference(dialect_of("5.3.3"), "S", one.script, trace=trace)
    difference = first_difference("S", lines, [line.replace('"broker": "a"', '"broker": "b"') for line in lines])
    assert isinstance(difference, AnswerDifference)
    return with_initial_state(one, difference, "5.3.3").before


def test_the_first_answer_has_a_state_before_it() -> None:
    """The first answer has the state after the steps before it."""
    state = before({"do": "advance", "ms": 40}, {"do": "broker", "name": "b", "answers": 9}, {"do": "select"})
    assert state is not None
    assert (state["index"], state["queues"]) == (7, ["a0", "b0"])


def test_a_later_answer_has_that_of_the_one_before_it() -> None:
    """A later answer has the state of the answer before it."""
    state = before({"do": "dump", "parts": ["clock"]}, {"do": "select"})
    assert state is not None
    assert state["index"] == 7


def test_without_states_nothing_is_added() -> None:
    """Without states none is added."""
    assert before({"do": "select"}, trace=False) is None
