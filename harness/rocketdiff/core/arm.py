"""The two sides of a case, and the programs that act in it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class Arm(StrEnum):
    """The two sides of a case; the baseline is the first subject named."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"


@dataclass(frozen=True, slots=True)
class Member:
    """
    One program of a case, in a process of its own: the client of an arm, one of an arm's group, or the feeder of both.

    number: place in the group, from 0; None for the only client of its arm.
    """

    arm: Arm | None
    number: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the text of ``str``; raises ValueError for any other text."""
        if text == _FEEDER:
            return cls(None)
        arm, _, number = text.partition("-m")
        return cls(Arm(arm), int(number) if number else None)

    def __str__(self) -> str:
        if self.arm is None:
            return _FEEDER
        return self.arm.value if self.number is None else f"{self.arm}-m{self.number}"


_FEEDER = "feeder"

BASELINE, CANDIDATE = Member(Arm.BASELINE), Member(Arm.CANDIDATE)
FEEDER = Member(None)
"""Sends the messages that both arms' groups consume."""
