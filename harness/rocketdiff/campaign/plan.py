"""The runs that a campaign file asks for, by subject."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rocketdiff.core.tables.run_options import DEFAULT_RELEASE
from rocketdiff.core.tables.suites import EVERY_SUITE


@dataclass(frozen=True, slots=True)
class RunSetting:
    """The servers and options of ``rocketdiff run``."""

    server: str = DEFAULT_RELEASE
    cluster: str = "processes"
    security: Path | None = None
    is_wire_wanted: bool = False

    @property
    def name(self) -> str:
        cluster = "" if self.cluster == "processes" else self.cluster
        security = "" if self.security is None else f"security {self.security}"
        wire = "wire" if self.is_wire_wanted else ""
        return ", ".join(filter(None, (f"servers {self.server}", cluster, security, wire)))


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """
    One run of a subject.

    suite None: scenarios of every suite that match ``patterns``. is_one_of_many: the file has several settings.
    """

    suite: str | None
    patterns: tuple[str, ...] = ()
    seed: int = 1
    setting: RunSetting = field(default_factory=RunSetting)
    is_one_of_many: bool = False

    @property
    def name(self) -> str:
        globs = self.patterns if len(self.patterns) < 3 else (self.patterns[0], f"and {len(self.patterns) - 1} more")
        setting = f", {self.setting.name}" if self.is_one_of_many else ""
        return f"{self.suite or ' '.join(globs) or EVERY_SUITE}, seed {self.seed}{setting}"


@dataclass(frozen=True, slots=True)
class CampaignEntry:
    """A subject and its baseline as written. place: ``file line 12``."""

    spec: str
    baseline: str
    work: tuple[PlannedRun, ...]
    place: str = ""


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """The runs of a parsed file. is_strict, ledgers, has_shipped_ledgers: options of ``rocketdiff run``."""

    title: str
    entries: tuple[CampaignEntry, ...]
    is_strict: bool = False
    ledgers: tuple[Path, ...] = ()
    has_shipped_ledgers: bool = True

    def runs(self) -> Iterator[tuple[CampaignEntry, PlannedRun]]:
        """The first run of each subject, then the second of each, …: an interrupted plan covers many subjects."""
        for round_ in range(max((len(entry.work) for entry in self.entries), default=0)):
            for entry in self.entries:
                if round_ < len(entry.work):
                    yield entry, entry.work[round_]
