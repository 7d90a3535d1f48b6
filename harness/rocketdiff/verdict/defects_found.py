"""Measured detection rates for a bank of defective clients; ``make sensitivity`` writes them, reports show them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from rocketdiff.verdict.calibration import Rate

SCHEMA_VERSION = "1.0.0"
"""Minor: a new field. Major: an older reader would misread it."""

LEAST_OCCASIONS = 3
"""Sends of an arm and run that a defect must change: of a random number with this mean, one in twenty is zero."""

BY_LUCK = "by luck"


@dataclass(frozen=True, slots=True)
class DefectTrial:
    """One defect that had an opportunity in a suite, with one seed. found: exit 1. occasions: sends that it changed."""

    suite: str
    defect: str
    seed: int
    found: bool
    occasions: int = LEAST_OCCASIONS

    @property
    def is_luck(self) -> bool:
        """True if it was found, but with other random numbers there might have been nothing to find."""
        return self.found and self.occasions < LEAST_OCCASIONS


@dataclass(frozen=True, slots=True)
class SuiteFound:
    """
    One suite.

    scenarios: number in the suite. played: those that virtual brokers can play. trials: every defect with an
    opportunity, with every seed. defects: those found with every seed, and not by luck, out of those with an
    opportunity. missed: the others' names, and whether they were found by luck.
    """

    suite: str
    scenarios: int
    played: int
    defects: Rate
    trials: Rate
    missed: tuple[str, ...]

    @classmethod
    def of(cls, suite: str, scenarios: int, played: int, trials: Iterable[DefectTrial]) -> Self:
        by_defect: defaultdict[str, list[bool]] = defaultdict(list)
        lucky = set[str]()
        for trial in trials:
            by_defect[trial.defect].append(trial.found and not trial.is_luck)
            lucky |= {trial.defect} if trial.is_luck else set()
        every = [found for each in by_defect.values() for found in each]
        missed = tuple(
            f"{name} ({BY_LUCK})" if name in lucky else name for name, each in by_defect.items() if not all(each)
        )
        found = len(by_defect) - len(missed)
        return cls(suite, scenarios, played, Rate.of(found, len(by_defect)), Rate.of(sum(every), len(every)), missed)


@dataclass(frozen=True, slots=True)
class DefectsFound:
    """
    The whole measurement. bank: number of defects. kinds: number per kind. seeds: number of seeds tried per defect.

    judging_source: digest of the judging part at the time.
    """

    schema_version: str
    rocketdiff: str
    judging_source: str
    bank: int
    kinds: Mapping[str, int]
    seeds: int
    suites: tuple[SuiteFound, ...]
    command: str = "make sensitivity"
