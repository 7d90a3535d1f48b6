"""Trials of one defective client in one suite."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path

from maintenance.sensitivity.stories import stories_of
from rocketdiff.analysis.run_analysis import analyze
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.verdict.defects_found import DefectTrial
from tests.analysis.judged_to_the_end import judged_to_the_end
from tests.analysis.sending.bank_spoils import SEED, Defect
from tests.analysis.synthetic import ArmRecords, write_run
from tests.analysis.synthetic_modes import ModeStory


@cache
def _played(suite: str) -> tuple[ModeStory, ...]:
    return tuple(sorted(stories_of(suite), key=lambda story: story.sends))


def trials(suite: str, bank: Mapping[str, Defect], seeds: Sequence[int]) -> Iterator[DefectTrial]:
    for name, defect in bank.items():
        for seed in seeds:
            code = exit_code(defect, _played(suite), seed)
            if code is None:
                break
            yield DefectTrial(suite, name, seed, code is ExitCode.DIVERGES)


def exit_code(defect: Defect, suite: Sequence[ModeStory], seed: int) -> ExitCode | None:
    """
    Exit code of a run of the scenarios with an opportunity; None without one.

    Scenarios are judged singly until one diverges, then all together for pooled checks.
    """
    met = []
    for story in suite:
        if has_opportunity(defect, story):
            met.append(story)
            if _judged(defect, [story], seed) is ExitCode.DIVERGES:
                return ExitCode.DIVERGES
    return _judged(defect, met, seed) if met else None


def has_opportunity(defect: Defect, story: ModeStory) -> bool:
    """Whether the trace sends as the defect requires and the defect changes any record."""
    if traits(defect.story) != traits(story):
        return False
    spoilt = deepcopy(_faithful(story, defect.release))
    defect.spoil(spoilt, story)
    return _essence(spoilt) != _essence(_faithful(story, defect.release))


@cache
def _faithful(story: ModeStory, release: str) -> ArmRecords:
    return story.play(release, SEED)


def traits(story: ModeStory) -> tuple[object, ...]:
    return story.mode, story.kind, bool(story.delay_level), story.threads > 1


def _essence(arm_records: ArmRecords) -> tuple[object, ...]:
    return (
        arm_records.attempts,
        arm_records.sends,
        arm_records.stored,
        arm_records.again,
        arm_records.scheduled,
        [one.queues for one in arm_records.routes],
    )


def _judged(defect: Defect, stories: Sequence[ModeStory], seed: int) -> ExitCode:
    left = iter(stories)
    with tempfile.TemporaryDirectory() as folder:
        run = write_run(
            Path(folder),
            stories,
            baseline=f"java:{defect.release}",
            candidate=f"python:{defect.release}",
            seed=seed,
            change=lambda arm_records: defect.spoil(arm_records, next(left)),
        )
        return judged_to_the_end(run, analyze([run.path], master=WITHOUT_SPARK)).judgement.exit_code
