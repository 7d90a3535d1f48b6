"""Trials of one defective client in one suite."""

import tempfile
from collections import defaultdict
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
        changed = {story: occasions(defect, story) for story in _played(suite)}
        met = [story for story, sends in changed.items() if sends]
        for seed in seeds if met else ():
            is_found = exit_code(defect, met, seed) is ExitCode.DIVERGES
            yield DefectTrial(suite, name, seed, is_found, sum(changed.values()))


def exit_code(defect: Defect, met: Sequence[ModeStory], seed: int) -> ExitCode:
    """
    Exit code of a run of the scenarios with an opportunity.

    Scenarios are judged singly until one diverges, then all together for pooled checks.
    """
    if any(_judged(defect, [story], seed) is ExitCode.DIVERGES for story in met):
        return ExitCode.DIVERGES
    return _judged(defect, met, seed)


def occasions(defect: Defect, story: ModeStory) -> int:
    """Sends whose records the defect changes, at least one if it changes others; 0 unless the trace sends as it requires."""
    if traits(defect.story) != traits(story):
        return 0
    faithful = _faithful(story, defect.release)
    spoilt = deepcopy(faithful)
    defect.spoil(spoilt, story)
    before, after = _by_send(faithful), _by_send(spoilt)
    sends = sum(before[send] != after[send] for send in {*before, *after})
    return sends or int(_essence(spoilt) != _essence(faithful))


def _by_send(records: ArmRecords) -> Mapping[int | None, list[object]]:
    found: defaultdict[int | None, list[object]] = defaultdict(list)
    for each in (records.attempts, records.sends, records.stored, records.again, records.scheduled or ()):
        for record in each:
            found[record.send].append(record)
    return found


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
