"""Shrinking: small results, the same every time, whatever the predicate thinks of nonsense."""

from typing import Any

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.lab.fuzz.shrink import shrink
from rocketdiff.simulation.generators import generate
from rocketdiff.simulation.script import parse_script


def _updates(script: dict[str, Any], least_ms: int) -> int:
    """How many updates of at least that latency a script that can be read has."""
    parse_script(script, "shrinking")
    found = [step for step in script["steps"] if step["do"] == "update"]
    return sum(update["latency_ms"] >= least_ms for update in found)


def test_only_what_matters_is_left() -> None:
    """Two slow updates are wanted: two steps, the smallest latency that is slow, one broker with a plain name."""
    small = shrink(generate("selection", 5), lambda script: _updates(script, 550) >= 2)
    assert small["steps"] == [{"do": "update", "broker": "a", "latency_ms": 550, "isolation": False}] * 2
    assert list(small["route"]) == ["a"]
    assert set(small) <= {"format", "route", "steps"}


def test_the_result_is_the_same_every_time() -> None:
    """Nothing is drawn at random."""
    script = generate("send-loop", 7)

    def holds(candidate: dict[str, Any]) -> bool:
        parse_script(candidate, "shrinking")
        return len([step for step in candidate["steps"] if step["do"] == "send"]) >= 3

    assert shrink(script, holds) == shrink(script, holds)


def test_a_script_that_cannot_be_read_does_not_count() -> None:
    """UsageError of the predicate is a no."""

    def holds(candidate: dict[str, Any]) -> bool:
        if len(candidate["steps"]) < 4:
            raise UsageError("four steps", seen="fewer")
        return True

    assert len(shrink(generate("selection", 1), holds)["steps"]) == 4


def test_timelines_and_lists_shrink_too() -> None:
    """Entries of a timeline go one by one; a list of one answer becomes that answer."""
    entries = [
        {"at_ms": 50, "action": {"do": "broker", "name": "a", "answers": ["timeout", 7]}},
        {"at_ms": 60, "action": {"do": "send", "mode": "sync"}},
    ]
    script = {"format": 1, "route": {"a": 4, "b": {"queues": 4}}, "steps": [{"do": "timeline", "entries": entries}]}

    def holds(candidate: dict[str, Any]) -> bool:
        parse_script(candidate, "shrinking")
        return "timeout" in repr(candidate)

    assert shrink(script, holds)["steps"] == [{"do": "broker", "name": "a", "answers": "timeout"}]


def test_a_predicate_must_hold_to_begin_with() -> None:
    """Otherwise there is nothing to keep."""
    with pytest.raises(ValueError, match="does not hold"):
        shrink(generate("selection", 1), lambda _: False)


def test_trials_are_limited() -> None:
    """The predicate is asked so often and no more, and never twice about one script."""
    asked: list[str] = []

    def holds(candidate: dict[str, Any]) -> bool:
        asked.append(repr(candidate))
        return True

    shrink(generate("selection", 2), holds, max_trials=25)
    assert len(asked) <= 26
    assert len(set(asked)) == len(asked)
