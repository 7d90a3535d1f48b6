"""A case: one scenario for one pair of subjects. Selection, ledgers, files and reports use its path-like name."""

from dataclasses import dataclass

from rocketdiff.core.subject import SubjectId


@dataclass(frozen=True, slots=True)
class CaseId:
    """``fault-latency/pause-one-of-two/java:5.3.3~python:5.3.3``; the first subject is the baseline."""

    scenario: str
    baseline: SubjectId
    candidate: SubjectId

    def __str__(self) -> str:
        return f"{self.scenario}/{self.baseline}~{self.candidate}"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A margin of a check, declared by the scenario: durations are equal if their ratio is within [1/ratio, ratio]."""

    check: str
    ratio: float
    reason: str
