"""Groups of releases that behave alike, and their pages."""

from rocketdiff.lab.history import groups_page
from rocketdiff.lab.history.changelog import Corpus
from rocketdiff.lab.history.groups import ReleaseGroup, grouping, groups_report
from rocketdiff.lab.history.rule_table import RuleRow, rule_rows
from rocketdiff.simulation.golden.standard import StandardScript
from rocketdiff.simulation.script import Depth, NamedScript, parse_script
from tests.lab.history.toys import ToyRunner, by_table, toy_corpus, toy_executions, toy_standard

RELEASES = ("4.7.0", "4.7.1", "4.8.0", "4.9.0")
WALK = toy_standard("retry-walk", {"4.7.0": "one tick", "4.8.0": "a tick a queue"})


def corpus_of(runner: ToyRunner, *standard: StandardScript, random: tuple[NamedScript, ...] = ()) -> Corpus:
    return toy_corpus(runner, standard, RELEASES, random)


def test_equal_answers_to_everything_make_a_group() -> None:
    """Releases with equal answers are a group, named in release order."""
    runner = by_table({"retry-walk": {"4.8.0": 1, "4.9.0": 1}})
    found = grouping(toy_executions(runner), corpus_of(runner, WALK), Depth.SELECTION, RELEASES)
    assert found.groups == (ReleaseGroup("SA", ("4.7.0", "4.7.1")), ReleaseGroup("SB", ("4.8.0", "4.9.0")))
    assert (found.standard_scripts, found.random_scripts) == (1, 0)


def test_a_random_script_divides_too() -> None:
    """A random script divides groups too."""
    runner = by_table({"random-1": {"4.7.1": 2}})
    corpus = corpus_of(runner, WALK, random=(NamedScript("random-1", WALK.script),))
    found = grouping(toy_executions(runner), corpus, Depth.SELECTION, RELEASES)
    assert [group.releases for group in found.groups] == [("4.7.0", "4.8.0", "4.9.0"), ("4.7.1",)]


def test_a_deeper_depth_includes_the_shallower_ones() -> None:
    """A deeper depth includes the shallower ones: a send separates 4.9.0 at the send loop."""
    sends = parse_script({"format": 1, "route": {"a": 1}, "steps": [{"do": "send", "mode": "sync"}]}, "sends")
    deep = StandardScript("sends", sends, WALK.about)
    runner = by_table({"retry-walk": {"4.8.0": 1, "4.9.0": 1}, "sends": {"4.9.0": 1}})
    report = groups_report(
        toy_executions(runner), corpus_of(runner, WALK, deep), (Depth.SELECTION, Depth.SEND_LOOP), RELEASES
    )
    selection, send_loop = report.groupings
    assert [group.releases for group in selection.groups] == [("4.7.0", "4.7.1"), ("4.8.0", "4.9.0")]
    assert [(group.name, group.releases) for group in send_loop.groups] == [
        ("LA", ("4.7.0", "4.7.1")),
        ("LB", ("4.8.0",)),
        ("LC", ("4.9.0",)),
    ]


def test_the_rule_table_joins_neighbours() -> None:
    """The rule table has one row per range of equal releases and marks answers of no release."""
    golden = corpus_of(by_table({"retry-walk": {"4.8.0": 1}}), WALK).golden
    runner = by_table({"retry-walk": {"4.8.0": 1, "4.9.0": 2}})
    assert rule_rows(toy_executions(runner), (WALK,), golden, RELEASES) == (
        RuleRow(("4.7.0", "4.7.1"), ("one tick",)),
        RuleRow(("4.8.0",), ("a tick a queue",)),
        RuleRow(("4.9.0",), ("as no published release",)),
    )


def test_pages_hold_groups_rule_and_changes() -> None:
    """Markdown, text and data have the same groups and changes."""
    runner = by_table({"retry-walk": {"4.8.0": 1, "4.9.0": 1}})
    corpus = corpus_of(runner, WALK)
    report = groups_report(toy_executions(runner), corpus, (Depth.SELECTION,), RELEASES)
    rows = rule_rows(toy_executions(runner), (WALK,), corpus.golden, RELEASES)
    reported = ["4.7.1 → 4.8.0", "a tick a queue; before, one tick", "| retry-walk |"]
    page = groups_page.markdown(report, rows)
    assert all(part in page for part in reported)
    assert "| SA | 4.7.0, 4.7.1 |" in page
    assert "selection: 2 groups (1 standard and 0 random scripts)" in list(groups_page.groups_lines(report))
    data = groups_page.groups_data(report)
    assert data["depths"][0]["groups"][1] == {"name": "SB", "releases": ["4.8.0", "4.9.0"]}
    assert data["edges"][0]["from"] == "4.7.1"


def test_a_rule_that_goes_on_is_the_same() -> None:
    """A cell of the rule table that equals the one above it is "the same"."""
    rows = (RuleRow(("4.7.1",), ("one", "two")), RuleRow(("4.8.0",), ("one", "three")))
    page = groups_page.markdown(
        groups_report(toy_executions(by_table({})), corpus_of(by_table({})), (), RELEASES), rows
    )
    assert "| 4.7.1 | one | two |\n| 4.8.0 | the same | three |" in page


def test_an_answer_that_changes_again_is_named_by_its_release() -> None:
    """Where an answer changes again, the former one is named by its first release."""
    standard = toy_standard("retry-walk", {"4.7.0": "one tick", "4.8.0": "a tick a queue", "4.9.0": "two ticks"})
    runner = by_table({"retry-walk": {"4.8.0": 1, "4.9.0": 2}})
    report = groups_report(toy_executions(runner), corpus_of(runner, standard), (Depth.SELECTION,), RELEASES)
    page = groups_page.markdown(report, ())
    assert "a tick a queue; before, one tick" in page
    assert "two ticks; before, as since 4.8.0" in page


def test_long_stretches_are_shown_by_their_ends() -> None:
    """A range of more than three releases is written by its ends."""
    assert groups_page.span(("1", "2", "3")) == "1, 2, 3"
    assert groups_page.span(("1", "2", "3", "4")) == "1 … 4"
