"""The two sides of a case."""

from enum import StrEnum


class Arm(StrEnum):
    """The two sides of a case; the baseline is the first subject named."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"
