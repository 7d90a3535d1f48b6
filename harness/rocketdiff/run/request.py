"""What a run is asked for: which scenarios, on which backend, judged by what."""

from dataclasses import dataclass, field
from pathlib import Path

from rocketdiff.cluster.backend import Backend
from rocketdiff.cluster.processes.backend import Processes
from rocketdiff.core.policy import Policy
from rocketdiff.core.subject import SubjectId
from rocketdiff.judging.ledgers import LedgerChoice
from rocketdiff.releases.progress import ProgressListener


@dataclass(frozen=True, slots=True)
class Selection:
    """Which scenarios: of a suite (None: of all), by globs of their names, from a folder (None: the shipped ones)."""

    suite: str | None = None
    patterns: tuple[str, ...] = ()
    root: Path | None = None

    @property
    def suite_name(self) -> str:
        """As a user writes it."""
        return self.suite or "all"


@dataclass(frozen=True, slots=True)
class Judging:
    """By what a run is judged: what gates, which divergences are declared, and where Spark runs (``--master``)."""

    policy: Policy = field(default_factory=Policy)
    ledgers: LedgerChoice = field(default_factory=LedgerChoice)
    master: str | None = None


UNEXCUSED = Judging(ledgers=LedgerChoice(shipped=False))
"""For a client against itself: no ledger can declare what differs there."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """
    What the user asked for. ``seed`` None: drawn, printed, and part of the command that repeats the run.

    is_wire_wanted: relays before both arms also where nothing needs them.
    is_control_wanted: after each case the same one of the baseline against itself.
    is_dry: say what would be done, and do nothing.
    """

    baseline: SubjectId
    candidate: SubjectId
    selection: Selection = field(default_factory=Selection)
    backend: Backend = field(default_factory=Processes)
    judging: Judging = field(default_factory=Judging)
    out: Path = Path("reports")
    seed: int | None = None
    is_wire_wanted: bool = False
    is_control_wanted: bool = False
    is_dry: bool = False
    progress: ProgressListener | None = None

    @property
    def subjects(self) -> tuple[SubjectId, SubjectId]:
        """First the standard, then what is measured against it."""
        return self.baseline, self.candidate
