"""The upgrade page: net differences of two releases, most serious first."""

from dataclasses import replace

import msgspec
import pytest

from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.checks import Concern
from rocketdiff.lab.upgrade import KNOWN, Upgrade, headline, html, markdown, upgrade
from rocketdiff.report.document import Document
from tests.lab.history.toys import by_table, toy_corpus, toy_executions, toy_standard
from tests.report.conftest import sample_document

RELEASES = ("4.7.0", "4.7.1", "4.8.0")
RULE = toy_standard("rule", {"4.7.0": "it was so", "4.8.0": "it is thus"})


def found(answers: dict[str, int], *documents: Document, releases: tuple[str, str] = ("4.7.0", "4.8.0")) -> Upgrade:
    runner = by_table({"rule": answers})
    return upgrade(toy_executions(runner), toy_corpus(runner, (RULE,), RELEASES), *releases, documents)


@pytest.fixture(scope="module")
def judged() -> Document:
    document = sample_document()
    named = {"avoidance": "avoidance.used-avoided-broker/first", "queue-choice": "queue.out-of-turn/retry"}
    clusters = tuple(replace(cluster, signature=named[cluster.check]) for cluster in document.clusters)
    return msgspec.structs.replace(document, clusters=clusters)


def test_a_difference_stands_before_and_after_in_words_with_the_release_that_brought_it() -> None:
    """A difference has both behaviours in words and the release that introduced it."""
    (item,) = found({"4.8.0": 1}).items
    assert (item.before, item.after, item.since) == ("it was so", "it is thus", "4.8.0")
    assert (item.title, item.matters, item.concern) == ("What rule does", "It matters.", Concern.QUEUES)


def test_a_reverted_change_is_no_difference() -> None:
    """A reverted change is no difference between the two releases."""
    nothing = found({"4.7.1": 1})
    assert headline(nothing) == "No difference between 4.7.0 and 4.8.0 was found"
    assert [change[:6] for change in nothing.known] == ["4.7.1:"] * 3
    assert all(page.count(KNOWN) == 1 for page in (markdown(nothing), html(nothing)))


def test_divergences_of_runs_stand_beside_it_the_gravest_first(judged: Document) -> None:
    """Differences seen in runs are listed too, most serious first, with count and cases."""
    both = found({"5.3.3": 1}, judged, releases=("4.7.1", "5.3.3"))
    assert [item.name for item in both.items] == [
        "avoidance.used-avoided-broker/first",
        "queue.out-of-turn/retry",
        "rule",
    ]
    assert both.items[0].found == "on brokers, 124 × in 4 cases of 20261121-142233-quick"
    assert [heading for heading, _ in both.sections()] == ["Which brokers are used", "Which queues are used"]


def test_a_run_of_other_releases_is_refused(judged: Document) -> None:
    """A run of other releases is refused with the command for the right one."""
    with pytest.raises(UsageError, match=r"java:4\.7\.0 and java:4\.8\.0.*compare java:4\.7\.0 java:4\.8\.0"):
        found({}, judged)


def test_markdown_and_html_agree(judged: Document) -> None:
    """Markdown and HTML have the same content, with observed text escaped."""
    both = found({"5.3.3": 1}, judged, releases=("4.7.1", "5.3.3"))
    pages = markdown(both), html(both)
    for text in (
        "after the timeout on broker-b the retry stays on broker-b",
        "It matters.",
        "4.7.1 to 5.3.3: 3 differences",
    ):
        assert all(text in page for page in pages)
    assert "http" not in pages[1]
