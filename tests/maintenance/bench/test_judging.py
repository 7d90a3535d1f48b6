"""The cases on which judging is measured have the stated properties."""

from pathlib import Path

import pytest

from maintenance.bench.judging import NEAR_FAULTS, made_run
from rocketdiff.analysis.case_trace import read_case
from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.analysis.sending.case_pass import judge_case
from rocketdiff.analysis.sending.columns.case_columns import case_columns
from rocketdiff.analysis.sending.steps.rulebook import rulebook_for
from rocketdiff.traces.run_directory import RunDirectory


@pytest.mark.parametrize("near_faults", [0.0, NEAR_FAULTS])
def test_both_ways_of_judging_find_no_difference(tmp_path: Path, near_faults: float) -> None:
    """Both ways of judging find no difference, and only a case with kills needs more than first sends replayed."""
    run = RunDirectory.open(made_run(tmp_path, "made", 4_000, near_faults).path)
    trace = read_case(run, 1)
    case = case_columns(trace, rulebook_for(trace))
    assert case is not None
    assert (case.slow.sum() > 2) == bool(near_faults)
    facts, plain = (sorted(judge_case(trace, plainly=way), key=repr) for way in (False, True))
    assert facts == plain
    assert not [one for one in facts if isinstance(one.fact, DifferenceFact)]
