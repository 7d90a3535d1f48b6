"""
Judging in columns gives the same facts as judging send by send, in the same order.

``ROCKETDIFF_EXAMPLES=2000`` draws more changes, different in each run.
"""

import gc
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rocketdiff.analysis.case_trace import CaseTrace, read_case
from rocketdiff.analysis.sending.case_pass import PLAIN_REPLAY, judge_case
from rocketdiff.analysis.sending.columns import case_columns as columns_module
from rocketdiff.analysis.sending.columns.case_columns import CaseColumns, case_columns
from rocketdiff.analysis.sending.steps.rulebook import rulebook_for
from rocketdiff.core.arm import Arm
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from tests.analysis.sending.columns.planted import (
    BEFORE_1_7,
    STORIES,
    Cases,
    Change,
    both_ways,
    changed,
    changes,
    is_sorted,
    traces,
)

ROOT = Path(__file__).parents[4]
SHIPPED = [ROOT / "tests" / "older_run", ROOT / "reports" / "sample"]
CASE_COLUMNS = "rocketdiff.analysis.sending.case_pass.case_columns"
EXAMPLES = int(os.environ.get("ROCKETDIFF_EXAMPLES", "0"))


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    return Cases(traces(tmp_path_factory.mktemp("cases")))


def in_columns(trace: CaseTrace) -> CaseColumns:
    """The columns of a case that has them."""
    case = case_columns(trace, rulebook_for(trace))
    assert case is not None
    return case


EVERY = [*STORIES, BEFORE_1_7]

REPLAYED = {"fault latency of 5.1.3, both brokers avoided", "fault latency and the clock"}
"""Two states are left of a rewritten list, and the counter is unknown after the step."""


@pytest.mark.parametrize("story", EVERY)
def test_facts_of_faithful_clients_are_equal(cases: Cases, monkeypatch: pytest.MonkeyPatch, story: str) -> None:
    """For two faithful clients the facts are equal, and most sends never become objects."""
    columns = in_columns(cases[story])
    monkeypatch.setattr(CASE_COLUMNS, lambda *_: columns)
    here, there = both_ways(cases[story])
    assert here == there
    assert columns.slow.mean() < (0.9 if story in REPLAYED else 0.4)


@settings(max_examples=EXAMPLES or 25, derandomize=not EXAMPLES)
@given(story=st.sampled_from(EVERY), planted=st.lists(changes, min_size=1, max_size=3))
def test_facts_of_changed_rows_are_equal(cases: Cases, story: str, planted: list[Change]) -> None:
    """The facts are equal after one to three changes, lost or repeated rows."""
    trace = changed(cases[story], planted)
    assume(is_sorted(trace))
    here, there = both_ways(trace)
    assert here == there


@pytest.mark.parametrize("run", SHIPPED, ids=lambda path: path.name)
def test_every_run_that_is_shipped(run: Path) -> None:
    """The facts are equal for all shipped runs, in every second case; with many examples in all."""
    directory = RunDirectory.open(run)
    for entry in directory.manifest.cases[:: 1 if EXAMPLES else 2]:
        if entry.status is not CaseStatus.PLANNED:
            here, there = both_ways(read_case(directory, entry.number))
            assert here == there, entry.name


def test_an_attempt_that_ends_before_it_begins(cases: Cases) -> None:
    """The facts are equal for an attempt that ends before it begins."""
    ended_early = Change(TableName.ATTEMPTS, Arm.BASELINE, 81, 5, 0)
    here, there = both_ways(changed(cases["two pauses, three brokers"], [ended_early]))
    assert here == there


def test_the_length_of_a_stretch_changes_no_fact(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    """The length of a stretch does not change the facts."""
    monkeypatch.setattr("rocketdiff.analysis.sending.columns.observed.STRETCH", 7)
    monkeypatch.setattr(columns_module, "MOST_SLOW", 1.0)
    drops = [Change(TableName.STORED, Arm.CANDIDATE, row, 24, 0) for row in range(0, 80, 9)]
    turns = [Change(TableName.ATTEMPTS, Arm.BASELINE, row, 3, 1) for row in range(5, 80, 11)]
    here, there = both_ways(changed(cases["two pauses, three brokers"], [*drops, *turns]))
    assert here == there


def test_the_plain_replay_can_be_asked_for(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the environment variable no case is put in columns."""
    monkeypatch.setenv(PLAIN_REPLAY, "1")
    monkeypatch.setattr(CASE_COLUMNS, lambda *_: pytest.fail("columns were made"))
    assert list(judge_case(cases["calm"]))


def test_calm_after_a_call_that_was_made_again(cases: Cases) -> None:
    """After a successful retry the next send need not become an object, after a failed send it must."""
    for part in in_columns(cases["made again"]).arms.values():
        again = np.flatnonzero(part.columns.attempts > 1)
        assert again.size > 2
        assert part.own[again + 1].all()
    parts = in_columns(cases["made again by two threads, or given up"]).arms.values()
    given_up = [(part, view) for part in parts for view in np.flatnonzero(~part.columns.ended_well)]
    assert given_up
    assert not any(part.own[view + 1] for part, view in given_up)


@pytest.mark.parametrize("plainly", [False, True], ids=["columns", "plain"])
def test_the_collector_of_python_is_left_as_it_was(
    cases: Cases, monkeypatch: pytest.MonkeyPatch, plainly: bool
) -> None:
    """After a pass, even a failed one, no object is frozen in the garbage collector."""
    monkeypatch.setattr("rocketdiff.analysis.sending.pictures.tallies.Pictures.observe", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        list(judge_case(cases["a pause"], plainly=plainly))
    assert gc.get_freeze_count() == 0
