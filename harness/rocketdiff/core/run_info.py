"""What a verdict and a report need to know about a run besides its evidence: who, with what, where, how to repeat it."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SubjectInfo:
    """One arm: the subject's name, the client and version it reported itself in its hello, and what the user calls it."""

    subject: str
    client: str
    version: str
    label: str = ""

    @property
    def title(self) -> str:
        """The name, after the user's own if there is one."""
        return f"{self.label} ({self.subject})" if self.label else self.subject


@dataclass(frozen=True, slots=True)
class CaseInfo:
    """
    One planned case.

    checks: every check planned for it, the implicit ones included; each must come back with an answer.
    settings, workload: as the scenario states them. faults: one short sentence each, for people. fault_counts: how many
    nodes are hit in which way, for the ledger's conditions. scenario_file: path from where the run was started, with
    forward slashes (a shipped one: from the root of our repository); checks_line: where it asks its questions, from 1.
    folder: the run directory, as a person here would type it.
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


@dataclass(frozen=True, slots=True)
class Machine:
    """Where it ran; a figure that nobody could read is 0 or empty."""

    system: str
    processor: str
    cores: int
    memory_mib: int
    python: str
    java: str


@dataclass(frozen=True, slots=True)
class Guard:
    """One condition that makes a run worth judging, as measured: both arms started together, the plan was complete."""

    name: str
    held: bool
    expected: str
    seen: str
    case: str = ""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """
    One run (or several judged together: then ``run`` names them all, and ``cases`` has one entry a case and run).

    pooled_checks: (case, check) of the pooled questions planned on top of the cases'. started_at: ISO 8601 with offset.
    reproduce: the command line that repeats the run. explain: command that explains one send, with the placeholders
    ``{subject}``, ``{case}`` and ``{send}``, and ``{folder}`` for the case's run directory. left_out: (scenario, reason) of what
    was chosen and could not be run. rocketdiff, judging_source: version
    of the program that judged, and digest of the part of it that judges; empty where nobody looked.
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

    @property
    def planned(self) -> tuple[tuple[str, str], ...]:
        """Every (case, check) that must be answered."""
        own = ((case.case, check) for case in self.cases for check in case.checks)
        return (*own, *self.pooled_checks)
