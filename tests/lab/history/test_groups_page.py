"""The committed page of groups matches golden data, and nothing else divides the releases."""

from collections.abc import Iterable, Iterator

import pytest

from rocketdiff.core.resources import resource
from rocketdiff.lab.fuzz.differences import behaviours
from rocketdiff.lab.fuzz.golden_digests import load_golden_digests
from rocketdiff.lab.history.execution_cache import Executions
from rocketdiff.lab.history.groups import GroupsReport, corpus_of, groups_report
from rocketdiff.lab.history.groups_page import markdown
from rocketdiff.lab.history.rule_table import rule_rows
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.simulation.golden.files import load_golden
from rocketdiff.simulation.golden.standard import depths_up_to, load_standard
from rocketdiff.simulation.java_host import Job
from rocketdiff.simulation.script import Depth
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.dialect import Dialect
from tests.lab.history.toys import ForgetfulStore

SELECTION_GROUPS = {
    "SA": "4.0.0-incubating 4.1.0-incubating 4.2.0 4.3.0 4.3.1 4.3.2 4.4.0 4.5.0 4.5.1 4.5.2 4.6.0 4.6.1 4.7.0 4.7.1",
    "SB": "4.8.0",
    "SC": "4.9.0 4.9.1 4.9.2 4.9.3 5.0.0-PREVIEW 5.0.0-ALPHA",
    "SD": "4.9.4 4.9.5 4.9.6 4.9.7",
    "SE": "4.9.8",
    "SF": "5.0.0",
    "SG": "5.1.0",
    "SH": "5.1.1 5.1.2 5.1.3",
    "SI": "5.1.4",
    "SJ": "5.2.0 5.3.0 5.3.1 5.3.2 5.3.3 5.4.0 5.5.0",
}
"""As in the history of the producer."""


class GoldenRunner:
    """Answers standard scripts with golden data and random ones with nothing."""

    def run_all(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, list[str]]]:
        for job in jobs:
            golden = load_golden().get(job.name)
            group = golden.of(job.release) if golden else None
            yield job, list(group.lines) if group else []


GOLDEN = Executions(GoldenRunner(), ForgetfulStore(), lambda release: release)


@pytest.fixture(scope="module")
def report() -> GroupsReport:
    corpus = corpus_of(list(Depth), load_standard(), load_golden())
    return groups_report(GOLDEN, corpus, list(Depth), client_releases())


def test_the_committed_page_is_that_of_the_golden_data(report: GroupsReport) -> None:
    """The committed page is up to date; else run: rocketdiff groups --markdown fixtures/simulation/groups.md."""
    rows = rule_rows(GOLDEN, load_standard(), load_golden(), client_releases())
    assert resource("fixtures/simulation/groups.md").read_text("utf-8") == markdown(report, rows)


def test_ten_groups_choose_queues_alike(report: GroupsReport) -> None:
    """Ten groups, SA to SJ, choose queues alike."""
    selection = report.groupings[0]
    assert {group.name: " ".join(group.releases) for group in selection.groups} == SELECTION_GROUPS


def test_each_dialect_is_a_group(report: GroupsReport) -> None:
    """At the deepest depth of producers each group is one dialect of the reference."""
    deepest = next(each for each in report.groupings if each.depth is Depth.REMOTING)
    dialects: dict[Dialect, list[str]] = {}
    for release in client_releases():
        dialects.setdefault(dialect_of(release), []).append(release)
    assert [list(group.releases) for group in deepest.groups] == list(dialects.values())


def test_each_range_of_allocation_is_a_group(report: GroupsReport) -> None:
    """Releases allocate alike where the rules do."""
    allocating = next(each for each in report.groupings if each.depth is Depth.ALLOCATION)
    ranges = [each.releases for each in behaviours(client_releases(), Depth.ALLOCATION)]
    assert [group.releases for group in allocating.groups] == ranges


def test_every_change_has_words(report: GroupsReport) -> None:
    """Every change has a sentence."""
    assert [
        change.sentence for edge in report.edges for change in edge.changes if not change.sentence.startswith("now ")
    ] == []


def test_no_random_script_divides_a_group(report: GroupsReport) -> None:
    """Random scripts, by their golden digests, divide no group."""
    for grouping in report.groupings:
        scripts = [one for one in load_golden_digests() if one.depth in depths_up_to(grouping.depth)]
        assert len(scripts) >= 40
        for group in grouping.groups:
            divided = [one.name for one in scripts if len({one.answers[release] for release in group.releases}) > 1]
            assert divided == [], group
