"""Shrinking gives small, repeatable results, even if the predicate fails on a script."""

from typing import Any

import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.lab.fuzz.shrink import shrink
from rocketdiff.simulation.generators import generate
from rocketdiff.simulation.script import parse_script


def _updates(script: dict[str, Any], least_ms: int) -> int:
    parse_script(script, "shrinking")
    found = [step for step in script["steps"] if step["do"] == "update"]
    return sum(update["latency_ms"] >= least_ms for update in found)


def test_only_what_matters_is_left() -> None:
    """Two slow updates shrink to two steps, the least slow latency and one broker."""
    small = shrink(generate("selection", 5), lambda script: _updates(script, 550) >= 2)
    assert small["steps"] == [{"do": "update", "broker": "a", "latency_ms": 550, "isolation": False}] * 2
    assert list(small["route"]) == ["a"]
    assert set(small) <= {"format", "route", "steps"}


def test_the_result_is_the_same_every_time() -> None:
    """Shrinking is not random: the same script gives the same result."""
    script = generate("send-loop", 7)

    def holds(candidate: dict[str, Any]) -> bool:
        parse_script(candidate, "shrinking")
        return len([step for step in candidate["steps"] if step["do"] == "send"]) >= 3

    assert shrink(script, holds) == shrink(script, holds)


def test_a_script_that_cannot_be_read_does_not_count() -> None:
    """A UsageError of the predicate counts as false."""

    def holds(candidate: dict[str, Any]) -> bool:
        if len(candidate["steps"]) < 4:
            raise UsageError("four steps", seen="fewer")
        return True

    assert len(shrink(generate("selection", 1), holds)["steps"]) == 4


def test_timelines_and_lists_shrink_too() -> None:
    """Timeline entries are removed singly, and a list of one answer becomes that answer."""
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
    """A predicate that does not hold at first is refused."""
    with pytest.raises(ValueError, match="does not hold"):
        shrink(generate("selection", 1), lambda _: False)


def test_trials_are_limited() -> None:
    """The predicate is called at most ``max_trials`` times, and once per script."""
    asked: list[str] = []

    def holds(candidate: dict[str, Any]) -> bool:
        asked.append(repr(candidate))
        return True

    shrink(generate("selection", 2), holds, max_trials=25)
    assert len(asked) <= 26
    assert len(set(asked)) == len(asked)
