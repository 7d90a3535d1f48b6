"""
What happens in a run, one frozen record an event, in one closed union, and the Protocol of whoever listens.

The runner emits; the terminal, the journal of a report or a plugin listen. Listeners do not know each other, and a run
does not depend on any of them. Times are seconds of duration, never clock readings: those belong to the traces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from rocketdiff.core.answers.verdict import CheckResult
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import FaultRecord


class Arm(StrEnum):
    """The two sides of a case; the baseline is the first subject named."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"


@dataclass(frozen=True, slots=True)
class DryRunDescribed:
    """The only event of a dry run: what a run would do, in lines for people."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """
    The plan is fixed: these cases, this many checks, this seed; ``folder`` is the run directory.

    left_out: scenarios that were chosen and that one of the two clients cannot do at all. not_here: those that this cluster
    cannot be given, each with the reason.
    """

    run: str
    seed: int
    suite: str
    baseline: SubjectId
    candidate: SubjectId
    cases: tuple[str, ...]
    checks_planned: int
    folder: Path
    left_out: tuple[str, ...] = ()
    not_here: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterStarted:
    """Name servers and brokers have been launched; readiness is not proven yet."""

    topology: str
    backend: str
    server_release: str


@dataclass(frozen=True, slots=True)
class ClusterReady:
    """Every proof of readiness held."""

    topology: str
    backend: str
    server_release: str
    brokers: tuple[str, ...]
    name_servers: tuple[str, ...]
    took_s: float


@dataclass(frozen=True, slots=True)
class ClusterClosed:
    """The cluster of a topology is gone, nothing of it is left running."""

    topology: str


@dataclass(frozen=True, slots=True)
class CaseStarted:
    """Both arms are being set up; ``number`` counts from 1; duration_s is the span of the plan's due times."""

    number: int
    case: str
    sends_per_arm: int
    episodes: int
    duration_s: float


@dataclass(frozen=True, slots=True)
class ArmsReady:
    """Both arms are warm and will be told to go; from here to ReadBackStarted nobody may take the processor from them."""

    number: int


@dataclass(frozen=True, slots=True)
class ArmsStarted:
    """Both arms were told to go, spread_ms apart at the most."""

    number: int
    spread_ms: float


@dataclass(frozen=True, slots=True)
class SendsAnswered:
    """Running total of one arm's finished sends; emitted at most a few times a second."""

    number: int
    arm: Arm
    sends: int


@dataclass(frozen=True, slots=True)
class FaultInjected:
    """A fault is in effect; the record says whether and when that was shown."""

    number: int
    fault: FaultRecord


@dataclass(frozen=True, slots=True)
class FaultHealed:
    """A fault is over; the same episode as its FaultInjected."""

    number: int
    fault: FaultRecord


@dataclass(frozen=True, slots=True)
class ArmLost:
    """A subject died, stalled or broke the line protocol; a result of the case, the run goes on."""

    number: int
    arm: Arm
    signature: str
    message: str


@dataclass(frozen=True, slots=True)
class ReadBackStarted:
    """All faults are healed; late writes are drained and every queue is read to its end."""

    number: int


@dataclass(frozen=True, slots=True)
class CaseEnded:
    """The traces of this case are sealed; sends of each arm that were answered."""

    number: int
    case: str
    baseline_sends: int
    candidate_sends: int
    took_s: float


@dataclass(frozen=True, slots=True)
class AnalysisStarted:
    """The stored traces are being judged."""

    cases: int
    checks: int


@dataclass(frozen=True, slots=True)
class CheckJudged:
    """One question of one case has its answer."""

    result: CheckResult


@dataclass(frozen=True, slots=True)
class ReportWritten:
    """The report files of a run exist; ``files`` by format name (json, html, junit, markdown)."""

    files: tuple[tuple[str, Path], ...]


@dataclass(frozen=True, slots=True)
class RunInterrupted:
    """The user ended the run; ``folder`` is the run directory, and its complete cases can be judged."""

    folder: Path


@dataclass(frozen=True, slots=True)
class RunFailed:
    """
    There is no verdict; the exception with the reason follows. ``machine_line`` is what ends the output.

    reports: report files about the cases that were complete, by format name; empty if there is no such report.
    """

    machine_line: str
    reports: tuple[tuple[str, Path], ...] = ()


@dataclass(frozen=True, slots=True)
class RunEnded:
    """Last event of a run that was judged; ``machine_line`` is what ends the output."""

    run: str
    exit_code: int
    machine_line: str
    took_s: float


Event = (
    DryRunDescribed
    | RunStarted
    | ClusterStarted
    | ClusterReady
    | ClusterClosed
    | CaseStarted
    | ArmsReady
    | ArmsStarted
    | SendsAnswered
    | FaultInjected
    | FaultHealed
    | ArmLost
    | ReadBackStarted
    | CaseEnded
    | AnalysisStarted
    | CheckJudged
    | ReportWritten
    | RunInterrupted
    | RunFailed
    | RunEnded
)


class Listener(Protocol):
    """Whoever wants to know; called from the runner's thread, in order, and must not block it."""

    def on_event(self, event: Event) -> None:
        """Take note of one event."""


def tell(listeners: Sequence[Listener], event: Event) -> None:
    """Give one event to every listener, in their order."""
    for listener in listeners:
        listener.on_event(event)
