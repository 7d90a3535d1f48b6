"""Facts about a run that verdict and report need besides its evidence."""

from dataclasses import dataclass, field

from rocketdiff.core.tables.roles import ClientRole


@dataclass(frozen=True, slots=True)
class SubjectInfo:
    """One arm. client, version: from its hello; label: the user's name for it."""

    subject: str
    client: str
    version: str
    label: str = ""

    @property
    def title(self) -> str:
        return f"{self.label} ({self.subject})" if self.label else self.subject


@dataclass(frozen=True, slots=True)
class CaseInfo:
    """
    One planned case.

    checks: all planned for it, implicit ones included; each must be answered.
    settings, workload: as stated in the scenario.
    faults: one short sentence each.
    fault_counts: nodes hit per kind of fault, for the ledger's conditions.
    scenario_file: path from the run's working directory, with forward slashes (a shipped file: from the repository root).
    checks_line: line of its ``checks`` field, from 1.
    folder: the run directory, as typed on the command line.
    role: of the clients, since 1.10; sends_per_arm counts the messages fed to both groups if they are consumers.
    """

    number: int
    case: str
    checks: tuple[str, ...]
    establishes: str = ""
    covers: tuple[str, ...] = ()
    topology: str = ""
    settings: dict[str, object] = field(default_factory=dict)
    workload: dict[str, object] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    fault_counts: dict[str, int] = field(default_factory=dict)
    episodes: int = 0
    sends_per_arm: int = 0
    scenario_file: str = ""
    checks_line: int = 1
    folder: str = ""
    role: ClientRole = ClientRole.PRODUCER


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine of the run; unreadable figures are 0 or empty."""

    system: str
    processor: str
    cores: int
    memory_mib: int
    python: str
    java: str


@dataclass(frozen=True, slots=True)
class Guard:
    """One measured validity condition of a run, such as: both arms started together, the plan was complete."""

    name: str
    held: bool
    expected: str
    seen: str
    case: str = ""

    @property
    def why_broken(self) -> str:
        """Words for a guard that did not hold."""
        return f"{self.name}: expected {self.expected}, saw {self.seen}"


@dataclass(frozen=True, slots=True)
class RunInfo:
    """
    One run, or several judged together (``run`` names them all; one entry of ``cases`` per case and run).

    pooled_checks: (case, check) of the pooled questions.
    started_at: ISO 8601 with offset.
    reproduce: command line that repeats the run.
    explain: command that explains one send; placeholders ``{subject}``, ``{case}``, ``{send}``, and ``{folder}`` for
        the case's run directory.
    left_out: (scenario, reason) of chosen scenarios that could not be run.
    repeated: (case, reason) of cases that were run again, because guards did not hold at first.
    rocketdiff, judging_source: version of the judging program and digest of its judging part; empty if not computed.
    """

    run: str
    seed: int
    suite: str
    baseline: SubjectInfo
    candidate: SubjectInfo
    server_release: str
    backend: str
    started_at: str
    took_s: float
    machine: Machine
    cases: tuple[CaseInfo, ...]
    reproduce: str
    rocketdiff: str
    pooled_checks: tuple[tuple[str, str], ...] = ()
    guards: tuple[Guard, ...] = ()
    explain: str = ""
    judging_source: str = ""
    left_out: tuple[tuple[str, str], ...] = ()
    repeated: tuple[tuple[str, str], ...] = ()

    @property
    def roles(self) -> tuple[ClientRole, ...]:
        """The roles that its cases are about; a run without cases is one of producers."""
        present = {case.role for case in self.cases}
        return tuple(role for role in ClientRole if role in present) or (ClientRole.PRODUCER,)

    @property
    def planned(self) -> tuple[tuple[str, str], ...]:
        """Every (case, check) that must be answered."""
        own = ((case.case, check) for case in self.cases for check in case.checks)
        return (*own, *self.pooled_checks)
