"""
A control arm beside each case: the same case once more, of the baseline against itself, on the same brokers.

It never gates. When it alarms, something other than the candidate makes clients look different here and now, so what the
case shows is INVALID. Its runs lie below the run they belong to, with a report of their own.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rocketdiff.analysis.analyze import WITHOUT_SPARK
from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.events import Arm
from rocketdiff.core.policy import Policy
from rocketdiff.core.run_info import Guard
from rocketdiff.core.verdict import CheckResult
from rocketdiff.judging.judge_runs import judge_case, judge_quietly
from rocketdiff.ledger.model import Ledger
from rocketdiff.run.case import Pair, run_case
from rocketdiff.scenario import Case
from rocketdiff.traces.case_directory import CaseDirectory
from rocketdiff.traces.manifest import CaseEntry
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.calibration_sums import Answer, ControlOutcome

FOLDER = "control"
GUARD = "control"
POOLED_GUARD = "control-pooled"


def control_cases(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The same cases, on the same brokers and with the same plans, with the baseline on both sides."""
    return tuple(replace(case, id=replace(case.id, candidate=case.id.baseline)) for case in cases)


class ControlArm:
    """The control cases of one run; ``directory`` has an entry for each, by the same numbers."""

    def __init__(self, directory: RunDirectory, cases: Sequence[Case], pair: Pair, *, is_wire_wanted: bool) -> None:
        self._directory = directory
        self._cases = tuple(cases)
        baseline = pair.programs[Arm.BASELINE]
        self._pair = Pair.of(baseline, baseline)
        self._is_wire_wanted = is_wire_wanted
        self._followed: list[CaseDirectory] = []

    @property
    def path(self) -> Path:
        """The run directory of the control cases."""
        return self._directory.path

    def follow(self, cluster: Cluster, case: CaseDirectory) -> None:
        """Run the control case of a case that has just been sealed, and put its guard down there."""
        number = case.number
        own = self._cases[number - 1]
        run_case(cluster, self._directory.case(number), own, self._pair, (), is_wire_wanted=self._is_wire_wanted)
        results = judge_case(self._directory, number, Policy(), Ledger())
        self._followed.append(case)
        case.guard(guard_of(GUARD, results, case.entry, self._subject))

    def end(self) -> None:
        """
        Judge all control cases together, pooled statistics included, and write their own report.

        An alarm there cannot be laid at one case's door, so every case gets the broken guard.
        """
        self._directory.end(wall_ms=time.time_ns() // 1_000_000)
        judged = judge_quietly([self.path], policy=Policy(), ledger=Ledger(), master=WITHOUT_SPARK)
        own = {str(case.id) for case in self._cases}
        pooled = [result for result in judged.judgement.results if result.case not in own]
        if pooled:
            for case in self._followed:
                case.guard(guard_of(POOLED_GUARD, pooled, case.entry, self._subject))

    @property
    def _subject(self) -> str:
        return self._directory.subject(Arm.BASELINE)


def guard_of(name: str, results: Sequence[CheckResult], entry: CaseEntry, subject: str) -> Guard:
    """Whether a control was quiet; one without an answer is no alarm, and says so."""
    outcome = ControlOutcome(entry.number, entry.name, subject, tuple(map(Answer.of, results)))
    return Guard(
        name=name,
        held=not outcome.has_alarm,
        expected=f"{subject} to conform to itself in the same case",
        seen=_seen(outcome),
        case=entry.name,
    )


def _seen(outcome: ControlOutcome) -> str:
    alarms = [answer for answer in outcome.answers if answer.is_alarm]
    if alarms:
        return "; ".join(f"{alarm.check}: {', '.join(alarm.signatures) or alarm.reason}" for alarm in alarms)
    decided = sum(answer.is_decided for answer in outcome.answers)
    return f"no alarm in {decided} answers" if outcome.is_decided else "nothing, because it could not be decided"
