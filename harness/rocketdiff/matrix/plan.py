"""The plan of a matrix: one column a subject, each with the runs that measure it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.suites import EVERY_SUITE


@dataclass(frozen=True, slots=True)
class Work:
    """One run of a column. suite None: of every suite, the scenarios whose names match ``patterns``."""

    suite: str | None
    patterns: tuple[str, ...] = ()
    seed: int = 1

    @property
    def name(self) -> str:
        """Suite or globs, with the seed."""
        globs = self.patterns if len(self.patterns) < 3 else (self.patterns[0], f"and {len(self.patterns) - 1} more")
        return f"{self.suite or ' '.join(globs) or EVERY_SUITE}, seed {self.seed}"


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """A subject and its baseline as they were written; place: ``file line 12``."""

    spec: str
    baseline: str
    work: tuple[Work, ...]
    place: str = ""


@dataclass(frozen=True, slots=True)
class MatrixPlan:
    """A matrix file that was read. origin: its name. The other fields are options of ``rocketdiff run``."""

    title: str
    origin: str
    columns: tuple[ColumnPlan, ...]
    server: str
    cluster: str
    security: Path | None = None
    is_wire_wanted: bool = False
    is_strict: bool = False
    ledgers: tuple[Path, ...] = ()
    has_shipped_ledgers: bool = True

    def runs(self) -> Iterator[tuple[ColumnPlan, Work]]:
        """Every run: the first of each column, then the second of each, so that a matrix that is stopped has many columns rather than one."""
        for round_ in range(max(len(column.work) for column in self.columns)):
            for column in self.columns:
                if round_ < len(column.work):
                    yield column, column.work[round_]
