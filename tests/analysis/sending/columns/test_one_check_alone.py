"""
A pass for one check gives the same facts of that check as the whole pass, in the same order.

``ROCKETDIFF_EXAMPLES=2000`` draws more changes, different in each run.
"""

import os
from collections.abc import Collection
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rocketdiff.analysis.case_trace import CaseTrace, read_case
from rocketdiff.analysis.facts import CaseFact, DifferenceFact, OutageValue, Tally
from rocketdiff.analysis.sending.case_pass import judge_case
from rocketdiff.core.tables.checks import CHECKS
from rocketdiff.record import judge as record_judge
from rocketdiff.record.facts import silver
from rocketdiff.record.rules import BASE, owner_of, rules_now
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.sending.columns.planted import STORIES, Cases, Change, changed, changes, is_sorted, traces
from tests.analysis.stories import ASYNC, DELAYED, ONEWAY, TO_QUEUE
from tests.analysis.synthetic import write_run

SAMPLE = Path(__file__).parents[4] / "reports" / "sample"
EXAMPLES = int(os.environ.get("ROCKETDIFF_EXAMPLES", "0"))
MODES = {"asynchronous": ASYNC, "one-way": ONEWAY, "to a queue": TO_QUEUE, "delayed": DELAYED}
EVERY = [*STORIES, *MODES]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    folder = tmp_path_factory.mktemp("cases")
    others = {name: read_case(write_run(folder / name, [story]), 1) for name, story in MODES.items()}
    return Cases(traces(folder) | others)


def of(checks: Collection[str], facts: Collection[CaseFact]) -> list[CaseFact]:
    return [
        fact
        for fact in facts
        if isinstance(fact.fact, DifferenceFact | Tally | OutageValue) and owner_of(fact.fact.check) in checks
    ]


def facts_of(trace: CaseTrace, wanted: Collection[str] | None, *, plainly: bool) -> list[CaseFact] | None:
    """The facts, or None if the case cannot be judged."""
    try:
        return list(judge_case(trace, plainly=plainly, wanted=wanted))
    except Exception:  # noqa: BLE001 - a damaged case may fail a step that a pass for one check leaves out
        return None


def assert_alike(trace: CaseTrace, checks: Collection[str], *, plainly: bool) -> None:
    whole = facts_of(trace, None, plainly=plainly)
    for check in checks:
        alone = facts_of(trace, {check}, plainly=plainly)
        if whole is None:
            continue  # This check may or may not need the failed step.
        assert alone is not None, check
        assert repr(of({check}, alone)) == repr(of({check}, whole)), check


@pytest.mark.parametrize(
    ("story", "plainly"),
    [(story, bool(number % 2)) for number, story in enumerate(EVERY)],
    ids=[f"{story}-{('columns', 'plain')[number % 2]}" for number, story in enumerate(EVERY)],
)
def test_a_check_alone_gives_its_facts_of_faithful_clients(cases: Cases, story: str, plainly: bool) -> None:
    """Each check alone gives its facts of faithful clients, by columns or plainly in turn; those of changed rows by both."""
    assert_alike(cases[story], CHECKS, plainly=plainly)


@settings(max_examples=EXAMPLES or 25, derandomize=not EXAMPLES)
@given(
    story=st.sampled_from(EVERY),
    planted=st.lists(changes, min_size=1, max_size=3),
    check=st.sampled_from(sorted(CHECKS)),
    plainly=st.booleans(),
)
def test_a_check_alone_gives_its_facts_of_changed_rows(
    cases: Cases, story: str, planted: list[Change], check: str, plainly: bool
) -> None:
    """A check alone gives its facts after one to three changes, lost or repeated rows."""
    trace = changed(cases[story], planted)
    assume(is_sorted(trace))
    assert_alike(trace, [check], plainly=plainly)


def test_of_a_run_that_is_shipped() -> None:
    """A check alone gives its rows of the sample's first case; with many examples of all cases."""
    directory = RunDirectory.open(SAMPLE)
    for entry in directory.manifest.cases if EXAMPLES else directory.manifest.cases[:1]:
        trace = read_case(directory, entry.number)
        for plainly in (False, True) if EXAMPLES else (False,):
            whole = list(judge_case(trace, plainly=plainly))
            for wanted in (frozenset({check}) for check in CHECKS):
                alone = silver(judge_case(trace, plainly=plainly, wanted=wanted), wanted)
                assert alone == silver(whole, wanted), (entry.name, wanted)


def test_two_checks_give_the_facts_of_both(cases: Cases) -> None:
    """Two checks together give both checks' facts in order."""
    for plainly in (False, True):
        checks = {"loss", "queue-choice"}
        here, whole = (list(judge_case(cases["a pause"], plainly=plainly, wanted=some)) for some in (checks, None))
        assert of(checks, here) == of(checks, whole)


@pytest.mark.parametrize("plainly", [False, True], ids=["columns", "plain"])
def test_unwanted_checks_are_not_computed(cases: Cases, monkeypatch: pytest.MonkeyPatch, plainly: bool) -> None:
    """A pass for loss makes no replay, causes or lane bars; a pass for protocol makes nothing."""
    trace = cases["a pause"]
    lists = "rocketdiff.analysis.sending.checks.by_rules.publish_lists.compare_publish_lists"
    monkeypatch.setattr(lists, lambda *_: pytest.fail("publish lists"))
    for step in ("replayed", "lane_bars", "_note_limits"):
        monkeypatch.setattr(f"rocketdiff.analysis.sending.case_pass.{step}", lambda *_, step=step: pytest.fail(step))
    replay = "rocketdiff.analysis.sending.columns.judged_views.JudgedViews.judged"
    monkeypatch.setattr(replay, lambda *_: pytest.fail("the replay"))
    monkeypatch.setattr("rocketdiff.analysis.sending.steps.rulebook.Rulebook.causes", lambda *_: pytest.fail("causes"))
    assert of({"loss"}, list(judge_case(trace, plainly=plainly, wanted={"loss"})))
    monkeypatch.setattr("rocketdiff.analysis.sending.case_pass.rulebook_for", lambda *_: pytest.fail("the rules"))
    assert list(judge_case(trace, plainly=plainly, wanted={"protocol", "validity"})) == []


def test_the_record_asks_for_what_changed() -> None:
    """The record judges only changed checks, or all if their common code changed."""
    assert record_judge.checks_of(frozenset({"loss"})) == {"loss"}
    assert record_judge.checks_of(frozenset(rules_now())) is None
    assert record_judge.checks_of(frozenset({BASE})) is None
