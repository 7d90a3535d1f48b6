"""A line of `rocketdiff subject check`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """What was tried, and what is wrong with it (empty if nothing is)."""

    tried: str
    problem: str = ""
