"""The rules behind one answer of the reference, in the oracle's words."""

from typing import Any

from rocketdiff.simulation.comparison.answers import answer_line
from rocketdiff.simulation.comparison.story import story
from rocketdiff.simulation.script import NamedScript, parse_script
from rocketdiff.simulation.virtual import run_reference
from rocketmq_reference.dialects import dialect_of


def story_of(release: str, line: int, *steps: dict[str, Any], **fields: object) -> tuple[str, ...]:
    """The rules behind an answer line."""
    data = {"format": 1, "route": {"a": 1, "b": 1}, "start_index": 0, "steps": list(steps), **fields}
    one = NamedScript("S", parse_script(data, "S"))
    lines = run_reference(dialect_of(release), "S", one.script)
    return story(one, release, answer_line(lines[line]))


def test_a_selection_names_skipped_and_chosen_queue() -> None:
    """A selection names the skipped and the chosen queue."""
    assert story_of("4.8.0", 0, {"do": "select", "last_broker": "b"}) == (
        "index after position 0 (of 0–1)",
        "skipped queue 0 of b: the previous attempt failed there",
        "took queue 0 of a: the first of another broker",
    )


def test_each_send_of_several_has_its_own_story() -> None:
    """Each of several sends has its own rules and attempts."""
    first, second = (story_of("5.3.3", line, {"do": "send", "mode": "sync", "count": 2}) for line in (0, 1))
    assert "took queue 0 of b: next in turn" in first
    assert "took queue 0 of a: next in turn" in second
    assert any(sentence.startswith("seen: attempt 1 on queue 0 of b, 0.0 ms") for sentence in first)


def test_a_dump_has_no_rules() -> None:
    """A dump has no rules."""
    assert story_of("5.3.3", 0, {"do": "dump", "parts": ["index"]}) == ()
