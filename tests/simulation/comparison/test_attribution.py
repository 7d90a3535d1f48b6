"""The rule behind a difference, found by exchanging one rule at a time."""

from typing import Any

import pytest

from rocketdiff.simulation.comparison import first_difference, rules_behind, visible
from rocketdiff.simulation.comparison.attribution import View, which_departs
from rocketdiff.simulation.script import NamedScript, parse_script
from rocketdiff.simulation.virtual import run_reference
from rocketmq_reference.dialects import dialect_of


def rules(left: str, right: str, *steps: dict[str, Any], view: View = list, **fields: object) -> tuple[str, ...]:
    """The rules reported for two releases' first difference."""
    data = {"format": 1, "route": {"a": 4, "b": 4}, "start_index": 0, "steps": list(steps), **fields}
    one = NamedScript("S", parse_script(data, "S"))
    ours, theirs = (view(run_reference(dialect_of(x), "S", one.script, trace=True)) for x in (left, right))
    difference = first_difference("S", ours, theirs)
    assert difference is not None
    return rules_behind(one, difference, left, right, view)


AVOIDING = {"send_latency_fault_enable": True}


def test_a_single_rule_is_found_although_many_differ() -> None:
    """The one responsible rule is found: from 5.1.4 on an avoidance is never shortened."""
    reported = rules(
        "4.9.8", "5.1.4", {"do": "update", "broker": "a", "latency_ms": 5, "isolation": False}, settings=AVOIDING
    )
    assert reported == ("fault_table.extends_only: False in 4.9.8, True in 5.1.4",)


def test_where_only_several_rules_together_explain_it_each_is_named() -> None:
    """Rules that cause a difference only together are each named."""
    reported = rules(
        "4.7.1", "5.3.3", {"do": "update", "broker": "a", "latency_ms": 5, "isolation": True}, settings=AVOIDING
    )
    assert [sentence.split(":")[0] for sentence in reported] == [
        "together with others, penalties.avoid_for_ms",
        "together with others, failure_counts_as_ms",
    ]


def test_without_states_only_a_deciding_rule_is_reported() -> None:
    """Without states only a rule that changes a decision is reported."""
    reported = rules(
        "4.7.1", "4.8.0", {"do": "select"}, {"do": "select", "last_broker": "a"}, {"do": "select"}, view=visible, seed=3
    )
    assert reported == ("select_plain: walk_past_last_broker in 4.7.1, draw_past_last_broker in 4.8.0",)


@pytest.mark.parametrize("changed", ["left", "right", "both"])
def test_of_two_builds_of_one_dialect_the_one_that_departs_is_named(changed: str) -> None:
    """Of two builds of one dialect the one that departs from the rules is named, or both."""
    one = NamedScript("S", parse_script({"format": 1, "route": {"a": 4}, "steps": [{"do": "select"}]}, "S"))
    lines = run_reference(dialect_of("5.3.3"), "S", one.script, trace=True)
    other, third = ([line.replace('"a"', f'"{letter}"') for line in lines] for letter in "bc")
    left, right = {"left": (other, lines), "right": (lines, other), "both": (other, third)}[changed]
    difference = first_difference("S", left, right)
    assert difference is not None
    assert (
        which_departs(one, difference, "5.3.3", "5.3.3+1a2b3c4d", list)
        == {
            "left": ("5.3.3 departs from the rules of 5.3.3, by which 5.3.3+1a2b3c4d answers",),
            "right": ("5.3.3+1a2b3c4d departs from the rules of 5.3.3, by which 5.3.3 answers",),
            "both": ("not known: by the rules of 5.3.3 neither answer is as expected",),
        }[changed]
    )


def test_of_one_dialect_the_rule_is_quoted() -> None:
    """Within one dialect the rule is quoted."""
    one = NamedScript("S", parse_script({"format": 1, "route": {"a": 4}, "steps": [{"do": "select"}]}, "S"))
    lines = run_reference(dialect_of("5.3.3"), "S", one.script)
    difference = first_difference("S", [line.replace('"a"', '"b"') for line in lines], lines)
    assert difference is not None
    reported = rules_behind(one, difference, "5.3.3", "5.3.3", list)
    assert any("draw_past_last_broker" in sentence for sentence in reported)


def test_a_difference_that_the_reference_does_not_show_has_no_known_rule() -> None:
    """A difference that the reference does not show has no known rule."""
    one = NamedScript("S", parse_script({"format": 1, "route": {"a": 4}, "steps": [{"do": "select"}]}, "S"))
    lines = run_reference(dialect_of("5.3.3"), "S", one.script)
    difference = first_difference("S", [line.replace('"a"', '"b"') for line in lines], lines)
    assert difference is not None
    assert rules_behind(one, difference, "4.7.1", "5.3.3", list) == (
        "not known: the reference does not answer like both",
    )


def test_of_one_dialect_rules_within_groups_of_fields_are_quoted_too() -> None:
    """Rules inside groups of fields are quoted too."""
    one = NamedScript(
        "S", parse_script({"format": 1, "route": {"a": 4}, "steps": [{"do": "dump", "parts": ["index"]}]}, "S")
    )
    lines = run_reference(dialect_of("5.3.3"), "S", one.script)
    difference = first_difference("S", [line.replace("null", "7") for line in lines], lines)
    assert difference is not None
    reported = rules_behind(one, difference, "5.3.3", "5.3.3", list)
    assert any(sentence.startswith("index.start: ") and len(sentence) > len("index.start: ") for sentence in reported)


def test_a_difference_never_goes_without_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A difference without a single responsible rule is "not known"."""
    monkeypatch.setattr("rocketdiff.simulation.comparison.attribution.differing", lambda *_: ())
    update = {"do": "update", "broker": "a", "latency_ms": 5, "isolation": False}
    reported = rules("4.9.8", "5.1.4", update, settings=AVOIDING)
    assert reported == ("not known: none of the 0 rules in which they differ accounts for it alone",)
