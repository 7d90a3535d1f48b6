"""Changes between releases, named by standard scripts and also found by random ones."""

from unittest import mock

import pytest

from rocketdiff.lab.history import changelog as changelog_module
from rocketdiff.lab.history.changelog import EdgeChanges, changelog, changelog_data, changelog_lines
from rocketdiff.lab.history.lineage import Edge, Way, way
from rocketdiff.simulation.script import NamedScript, Script, parse_script
from rocketdiff.simulation.script.steps.sending import Select
from tests.lab.history.toys import ToyRunner, by_table, toy_corpus, toy_executions, toy_standard

RELEASES = ("4.7.0", "4.7.1", "4.8.0")
WAY = way("4.7.0", "4.8.0")
RULE = toy_standard("rule", {"4.7.0": "it was so", "4.8.0": "it is thus"})
EFFECT = toy_standard("effect", {"4.7.0": "little", "4.8.0": "much"}, follows=("rule",))


def found_by(runner: ToyRunner, *random: NamedScript) -> tuple[EdgeChanges, ...]:
    return changelog(toy_executions(runner), toy_corpus(runner, (RULE, EFFECT), RELEASES, random), WAY)


def test_a_change_is_put_into_words() -> None:
    """A change has a sentence made from the golden answers of both sides."""
    quiet, changed = found_by(by_table({"rule": {"4.8.0": 1}}))
    assert quiet == EdgeChanges(Edge("4.7.0", "4.7.1"), ())
    (change,) = changed.changes
    assert (change.behaviour, change.sentence) == ("rule", "now it is thus; before, it was so")
    assert change.difference.values == ("queue 0 of a", "queue 1 of a")


def test_consequences_are_not_reported_twice() -> None:
    """A change that follows from another one is listed under it."""
    (change,) = found_by(by_table({"rule": {"4.8.0": 1}, "effect": {"4.8.0": 1}}))[1].changes
    assert change.behaviour == "rule"
    assert change.also == ("effect",)


def test_an_effect_without_its_cause_is_reported() -> None:
    """An effect without its cause is reported."""
    (change,) = found_by(by_table({"effect": {"4.8.0": 1}}))[1].changes
    assert (change.behaviour, change.also) == ("effect", ())


def test_an_answer_without_words_is_shown_as_it_is() -> None:
    """An answer unknown to all golden groups is printed once, in one line."""
    corpus = toy_corpus(by_table({}), (RULE,), RELEASES)
    found = changelog(toy_executions(by_table({"rule": {"4.8.0": 3}})), corpus, WAY)
    (change,) = found[1].changes
    assert (change.sentence, change.known) == ("What rule does: queue 0 of a → queue 3 of a", "before: it was so")
    reported = list(changelog_lines(WAY, found))
    assert [line for line in reported if "queue 3" in line] == [f"    {change.sentence}"]
    assert "    before: it was so" in reported
    assert "    answer: differs at step 0" in reported


def test_answers_without_words_that_differ_alike_are_listed_once() -> None:
    """Of a build's scripts whose answers first differ in the same, one is listed, and names the others."""
    other = toy_standard("other", {"4.7.0": "it was so", "4.8.0": "it is thus"})
    corpus = toy_corpus(by_table({}), (RULE, other), RELEASES)
    found = changelog(toy_executions(by_table({name: {"4.8.0": 3} for name in ("rule", "other")})), corpus, WAY)
    (change,) = found[1].changes
    assert (change.behaviour, change.alike) == ("rule", ("other",))
    assert "    differs first in the same: other" in list(changelog_lines(WAY, found))


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        (("", ""), "rule"),
        (("", "SEND_OK from a → SEND_OK from b"), "other"),
        (("SEND_OK from a → SEND_OK from b", "MQClientException after 3 ms → SEND_OK from b"), "other"),
    ],
    ids=["the first of equal ones", "with an end", "with another result"],
)
def test_the_script_shown_is_the_one_that_a_user_notices_most(ends: tuple[str, str], shown: str) -> None:
    """Of scripts that differ first in the same, the one whose send ends with another result is shown."""
    scripts = (RULE, toy_standard("other", {"4.7.0": "it was so", "4.8.0": "it is thus"}))
    corpus = toy_corpus(by_table({}), scripts, RELEASES)
    table = by_table({script.name: {"4.8.0": 3} for script in scripts})
    with mock.patch.object(changelog_module, "sends_end", side_effect=ends):
        (change,) = changelog(toy_executions(table), corpus, WAY)[1].changes
    assert change.behaviour == shown


def test_a_difference_of_random_scripts_only_is_shrunk() -> None:
    """A difference that only a random script shows is shrunk to a selection after a failure."""

    def queue_of(release: str, _name: str, script: Script) -> int:
        failed = any(isinstance(step, Select) and step.last_broker for step in script.steps)
        return int(failed and release == "4.8.0")

    steps = [
        {"do": "select"},
        {"do": "advance", "ms": 7},
        {"do": "select", "last_broker": "b"},
        {"do": "dump", "parts": ["index"]},
    ]
    script = parse_script({"format": 1, "route": {"a": 4, "b": 4}, "start_index": 5, "steps": steps}, "random-1")
    (change,) = found_by(ToyRunner(queue_of), NamedScript("random-1", script))[1].changes
    assert change.behaviour == "unnamed/random-1"
    assert change.standard is None
    assert change.sentence == "A random script, made small, is answered otherwise: queue 0 of a → queue 1 of a"
    assert [type(step) for step in change.script.script.steps] == [Select]


def test_random_scripts_are_silent_where_a_standard_one_speaks() -> None:
    """Beside a standard script random ones are only counted; their reason may be another."""
    random = NamedScript("random-1", RULE.script)
    found = found_by(by_table({"rule": {"4.8.0": 1}, "random-1": {"4.8.0": 1}}), random)
    assert [change.behaviour for change in found[1].changes] == ["rule"]
    assert "  1 random script differs as well" in list(changelog_lines(WAY, found))
    (edge,) = changelog_data(WAY, found)["edges"]
    assert edge["random_scripts"] == 1


def test_data_has_edges_with_and_without_changes() -> None:
    """Data has unchanged steps, and per change its releases, behaviour, depth and script."""
    data = changelog_data(WAY, found_by(by_table({"rule": {"4.8.0": 1}})))
    (unchanged,) = data["unchanged"]
    assert (unchanged["from"], unchanged["to"], unchanged["side"]) == ("4.7.0", "4.7.1", False)
    assert [sentence[-7:] for sentence in unchanged["known"]] == ["(#1463)", "(#1957)", "(#2042)"]
    (edge,) = data["edges"]
    assert (edge["from"], edge["to"]) == ("4.7.1", "4.8.0")
    (change,) = edge["changes"]
    assert (change["behaviour"], change["depth"]) == ("rule", "selection")
    assert change["script"]["steps"] == [{"do": "select"}]
    assert change["file"] == "fixtures/simulation/scripts/rule.json"


def test_text_ends_with_what_did_not_change() -> None:
    """Text ends with the unchanged steps and names the common ancestor."""
    found = found_by(by_table({"rule": {"4.8.0": 1}}))
    lines = list(changelog_lines(Way(WAY.edges, "4.7.0"), found))
    assert "common ancestor 4.7.0" in lines[0]
    assert "4.7.1 → 4.8.0" in lines
    assert lines[-2] == "no change that scripts can show: 4.7.0 → 4.7.1"
    assert "how a process ends" in lines[-1]


def test_a_side_line_is_marked() -> None:
    """A side line is marked, because its changes never entered the target release."""
    runner = by_table({"rule": {"4.9.8": 1}})
    corpus = toy_corpus(runner, (RULE,), ("4.7.0", "4.8.0", "4.9.8"))
    path = way("4.9.7", "5.0.0")
    found = changelog(toy_executions(runner), corpus, path)
    assert "4.9.7 → 4.9.8 (side line; not on the way)" in list(changelog_lines(path, found))
    (edge,) = changelog_data(path, found)["edges"]
    assert (edge["from"], edge["to"], edge["side"]) == ("4.9.7", "4.9.8", True)
