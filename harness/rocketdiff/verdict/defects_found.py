"""How many of a bank of defective clients the suites find, as measured: ``make sensitivity`` writes it, reports tell it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from rocketdiff.verdict.calibration import Rate

SCHEMA_VERSION = "1.0.0"
"""A new field is a new minor version, anything an older reader would misread a new major."""


@dataclass(frozen=True, slots=True)
class DefectTrial:
    """One defect that had an opportunity in a suite, with one seed. found: exit 1."""

    suite: str
    defect: str
    seed: int
    found: bool


@dataclass(frozen=True, slots=True)
class SuiteFound:
    """
    One suite.

    scenarios: of the suite; played: those that virtual brokers can play. trials: of every defect with an opportunity there,
    with every seed; defects: those found with every seed, out of those with an opportunity. missed: the others, by name.
    """

    suite: str
    scenarios: int
    played: int
    defects: Rate
    trials: Rate
    missed: tuple[str, ...]

    @classmethod
    def of(cls, suite: str, scenarios: int, played: int, trials: Iterable[DefectTrial]) -> Self:
        """The sums."""
        by_defect: defaultdict[str, list[bool]] = defaultdict(list)
        for trial in trials:
            by_defect[trial.defect].append(trial.found)
        every = [found for each in by_defect.values() for found in each]
        missed = tuple(name for name, each in by_defect.items() if not all(each))
        found = len(by_defect) - len(missed)
        return cls(suite, scenarios, played, Rate.of(found, len(by_defect)), Rate.of(sum(every), len(every)), missed)


@dataclass(frozen=True, slots=True)
class DefectsFound:
    """
    The whole measurement. bank: how many defects, kinds: of which kind how many. seeds: with how many each was tried.

    judging_source: digest of the part that judges, as it was.
    """

    schema_version: str
    rocketdiff: str
    judging_source: str
    bank: int
    kinds: Mapping[str, int]
    seeds: int
    suites: tuple[SuiteFound, ...]
    command: str = "make sensitivity"
