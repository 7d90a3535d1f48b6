"""
A control arm beside each case: the same case of the baseline against itself, on the same brokers.

It never gates. If it alarms, something other than the candidate makes clients differ on this machine, so the case is
INVALID. Control runs are stored below the run they belong to, with their own report.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult
from rocketdiff.core.arm import Arm
from rocketdiff.core.run_info import Guard
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.judging.judge_runs import judge_runs
from rocketdiff.ledger.model import Ledger
from rocketdiff.run.case_session import CaseSession, Clusters
from rocketdiff.run.request import WITHOUT_LEDGERS, RunRequest
from rocketdiff.scenario import Case
from rocketdiff.traces.manifest import CaseEntry
from rocketdiff.traces.run_directory import CaseDirectory, RunDirectory
from rocketdiff.verdict.gate_rate_tally import ControlOutcome, TalliedAnswer

FOLDER = "control"
GUARD = "control"
POOLED_GUARD = "control-pooled"


def control_cases(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The same cases, brokers and plans, with the baseline on both sides."""
    return tuple(replace(case, id=replace(case.id, candidate=case.id.baseline)) for case in cases)


class ControlArm:
    """The control cases of one run, with the same numbers, in their own run directory inside the run's."""

    def __init__(self, session: CaseSession, cases: Sequence[Case]) -> None:
        self._session = session
        self._cases = tuple(cases)
        self._followed: list[CaseDirectory] = []

    @classmethod
    def of(cls, request: RunRequest, cases: Sequence[Case], run: RunDirectory, clusters: Clusters) -> Self:
        own = control_cases(cases)
        asked = replace(
            request,
            candidate=request.baseline,
            judging=WITHOUT_LEDGERS,
            seed=run.manifest.seed,
            is_control_wanted=False,
        )
        session = CaseSession.begin(asked, clusters, run.path / FOLDER, own, run=f"{run.run}-{FOLDER}")
        return cls(session, own)

    @property
    def path(self) -> Path:
        return self._session.directory.path

    def follow(self, case: CaseDirectory) -> None:
        """Run the control of a sealed case and record the guard there."""
        answer = self._session.run(case.number, self._cases[case.number - 1])
        self._followed.append(case)
        case.guard(guard_of(GUARD, answer.results, case.entry, self._subject))

    def end(self) -> None:
        """
        Judge all control cases together, with the pooled statistics, and write their report.

        A pooled alarm cannot be attributed to one case, so every case gets the broken guard.
        """
        self._session.end()
        judged = judge_runs([self.path], policy=Policy(), ledger=Ledger(), master=WITHOUT_SPARK)
        own = {str(case.id) for case in self._cases}
        pooled = [result for result in judged.judgement.results if result.case not in own]
        if pooled:
            for case in self._followed:
                case.guard(guard_of(POOLED_GUARD, pooled, case.entry, self._subject))

    @property
    def _subject(self) -> str:
        return self._session.directory.subject(Arm.BASELINE)


def guard_of(name: str, results: Sequence[CheckResult], entry: CaseEntry, subject: str) -> Guard:
    """Guard of a control: held unless the control alarmed. It also holds, with a note, if the control could not be decided."""
    outcome = ControlOutcome(entry.number, entry.name, subject, tuple(map(TalliedAnswer.of, results)))
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
