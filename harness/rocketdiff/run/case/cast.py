"""Which program each member of a case runs."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from rocketdiff.core.arm import Arm, Member
from rocketdiff.core.subject import REFERENCE, SubjectId
from rocketdiff.subjects.program import SubjectProgram
from rocketdiff.subjects.registry import program_of
from rocketdiff.subjects.subject import Subject

FED_BY = SubjectId(REFERENCE, "5.5.0")
"""Sends what groups consume: the reference producer by the newest rules."""


@dataclass(frozen=True, slots=True)
class Pair:
    """
    The two programs of a run.

    timeouts_ms: an arm's attempt timeout, if known before its hello. feeder: sends what both arms consume.
    """

    programs: Mapping[Arm, SubjectProgram]
    timeouts_ms: Mapping[Arm, int | None] = field(default_factory=dict)
    feeder: SubjectProgram | None = None

    @classmethod
    def of(cls, baseline: SubjectProgram, candidate: SubjectProgram) -> Self:
        return cls({Arm.BASELINE: baseline, Arm.CANDIDATE: candidate})

    @classmethod
    def of_subjects(cls, baseline: Subject, candidate: Subject) -> Self:
        arms = {Arm.BASELINE: baseline, Arm.CANDIDATE: candidate}
        timeouts_ms = {arm: subject.attempt_timeout_ms for arm, subject in arms.items()}
        return cls({arm: subject.program for arm, subject in arms.items()}, timeouts_ms, program_of(FED_BY))

    def cast(self, members: Iterable[Member], mixed: Collection[int] = ()) -> dict[Member, SubjectProgram]:
        """
        Return the program of each member, in the order in which they are started.

        mixed: members of the candidate's group that run the baseline.
        """
        return {member: self._program(member, mixed) for member in members}

    def _program(self, member: Member, mixed: Collection[int]) -> SubjectProgram:
        if member.arm is not None:
            return self.programs[Arm.BASELINE if member.number in mixed else member.arm]
        assert self.feeder is not None, "a role with a feeder has a program for it"
        return self.feeder

    def timeout_ms(self, member: Member) -> int | None:
        return None if member.arm is None else self.timeouts_ms.get(member.arm)
