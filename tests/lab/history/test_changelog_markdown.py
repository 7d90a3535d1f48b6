"""A changelog for an issue begins with what an application notices, groups causes, and is short."""

from dataclasses import replace

from rocketdiff.lab.history.changelog import BehaviourChange, EdgeChanges, changelog
from rocketdiff.lab.history.changelog_markdown import changelog_markdown
from rocketdiff.lab.history.lineage import Edge, Way
from rocketdiff.simulation.comparison import Outcome, OutcomeDifference
from tests.lab.history.toys import by_table, toy_corpus, toy_executions, toy_standard

PATCH = Edge("4.7.0", "4.7.0+1a2b3c4d")
WAY = Way((PATCH,))
RULE = toy_standard("rule", {"4.7.0": "it was so", "4.8.0": "it is thus"})
NAMES = ("rule", "second", "third", "fourth", "fifth")


def change() -> BehaviourChange:
    """A script of five whose answers differ alike, as a patch makes them, which has no words."""
    scripts = tuple(toy_standard(name, {"4.7.0": "it was so"}) for name in NAMES)
    runner = by_table({name: {PATCH.after: 3} for name in NAMES})
    (found,) = changelog(toy_executions(runner), toy_corpus(by_table({}), scripts, ("4.7.0",)), WAY)
    (one,) = found.changes
    return one


def lines_of(*changes: BehaviourChange, random: int = 0) -> list[str]:
    return list(changelog_markdown(WAY, (EdgeChanges(PATCH, changes, random),)))


def test_ends_of_sends_come_before_first_differences() -> None:
    """The end of a send stands first, before → after; then the first difference once, with the scripts that have it."""
    assert lines_of(replace(change(), ends="SEND_OK after 1 ms → no end"), random=2) == [
        "### 4.7.0 → 4.7.0+1a2b3c4d",
        "",
        "**Noticed by an application**",
        "",
        "- What rule does: SEND_OK after 1 ms → no end (`rule`)",
        "",
        "**What differs first**",
        "",
        "- `queue 0 of a → queue 3 of a` at step 0 of `rule`; so in `second`, `third`, `fourth` and 1 more",
        "",
        "2 random scripts differ as well.",
        "",
    ]


def test_an_answer_of_a_member_stands_with_its_outcome() -> None:
    """Of a member, what brokers and listeners see is listed, and a long first difference is named alone."""
    one = replace(change(), outcome=OutcomeDifference(Outcome.MESSAGES, "message 2 is delivered twice"))
    left, right = one.difference.lines
    assert left is not None
    long = replace(one.difference, lines=(left.replace('"a"', f'"{"a" * 200}"'), right))
    lines = lines_of(replace(one, difference=long))
    assert "- What rule does: message 2 is delivered twice (`rule`)" in lines
    assert len(max(lines, key=len)) < 150


def test_words_of_both_releases_are_no_cause() -> None:
    """Between releases that have words, the sentence is all."""
    runner = by_table({"rule": {"4.8.0": 1}})
    way = Way((Edge("4.7.0", "4.8.0"),))
    found = changelog(toy_executions(runner), toy_corpus(runner, (RULE,), ("4.7.0", "4.8.0")), way)
    lines = list(changelog_markdown(way, found))
    assert "- now it is thus; before, it was so (`rule`)" in lines
    assert "**What differs first**" not in lines


def test_many_changes_stay_below_forty_lines() -> None:
    """A patch with fifty changes has the twelve gravest of each list, and the number of the others."""
    many = [replace(change(), ends="SEND_OK after 1 ms → no end") for _ in range(50)]
    lines = lines_of(*many, random=9)
    assert len(lines) <= 40
    assert lines.count("- and 38 more: `--json`") == 2


def test_an_edge_without_changes_is_one_line() -> None:
    """Equal behaviour is one sentence that states what scripts cannot show."""
    (line,) = lines_of()
    assert line.startswith("No change that scripts can show: 4.7.0 → 4.7.0+1a2b3c4d. They cannot show")
