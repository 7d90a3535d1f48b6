"""The record judges without the facts of pictures, and concludes as `analyze` does."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rocketdiff.analysis.case_trace import CaseTrace, read_case
from rocketdiff.analysis.conclusions import all_evidence, case_facts
from rocketdiff.analysis.consuming.pictures.timeline import LAG, MERGED
from rocketdiff.analysis.facts import CaseFact, DifferenceFact, LaneBar, Tally
from rocketdiff.analysis.registry import judge_case
from rocketdiff.analysis.sending.pictures.tallies import AMBIGUITY, ELAPSED, OVER_TIME
from rocketdiff.analysis.summaries import summarise
from rocketdiff.traces.manifest import RunManifest
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.consuming.group_story import Story

SAMPLE = Path(__file__).parents[2] / "reports" / "sample"

Stored = tuple[RunManifest, list[CaseTrace]]


def sample() -> Stored:
    run = RunDirectory.open(SAMPLE)
    return run.manifest, [read_case(run, entry.number) for entry in run.manifest.cases[::4]]


def group() -> Stored:
    story = Story()
    return story.manifest(), [story.trace()]


def group_with_a_loss() -> Stored:
    story = Story()
    del story.candidate.deliveries[3:]
    return story.manifest(), [story.trace()]


@pytest.mark.parametrize("stored", [sample, group, group_with_a_loss])
def test_answers_need_no_fact_of_a_picture(stored: Callable[[], Stored]) -> None:
    """Left out are tallies that only pictures read, and bars of a case without a difference."""
    manifest, traces = stored()
    every: list[CaseFact] = []
    needed: list[CaseFact] = []
    for trace in traces:
        whole, some = list(judge_case(trace)), list(judge_case(trace, is_drawn=False))
        kept = {repr(each) for each in some}
        left_out = [each.fact for each in whole if repr(each) not in kept]
        tallies = {fact.check for fact in left_out if isinstance(fact, Tally)}
        assert tallies <= {ELAPSED, OVER_TIME, AMBIGUITY, LAG, MERGED}
        differs = any(isinstance(each.fact, DifferenceFact) for each in whole)
        assert differs is not any(isinstance(fact, LaneBar) for fact in left_out)
        assert kept <= {repr(each) for each in whole}
        every += whole
        needed += some
    expected, found = (all_evidence(case_facts([manifest], summarise(facts))) for facts in (every, needed))
    assert len(needed) < len(every) or stored is group_with_a_loss
    assert found == expected
