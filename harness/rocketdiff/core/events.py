"""
Events of a run in one closed union, and the Protocol of their listeners.

Listeners (terminal, JUnit, plugins) are independent of each other and of the run. Times are durations in
seconds, except in the ``FaultRecord`` of a fault's events.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rocketdiff.core.answers.verdict import CheckResult
from rocketdiff.core.arm import Member
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.tables.roles import ClientRole


@dataclass(frozen=True, slots=True)
class DryRunDescribed:
    """The only event of a dry run: what a run would do."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """
    The plan is fixed. ``folder`` is the run directory.

    left_out, without_group: chosen scenarios for which one of the two clients lacks the call, or consumers.
    not_here: (scenario, reason) of chosen scenarios that this cluster does not support.
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
    without_group: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterStarted:
    """Servers were launched; readiness is not proven yet."""

    topology: str
    backend: str
    server_release: str


@dataclass(frozen=True, slots=True)
class ClusterReady:
    """Every proof of readiness succeeded."""

    topology: str
    backend: str
    server_release: str
    brokers: tuple[str, ...]
    name_servers: tuple[str, ...]
    took_s: float


@dataclass(frozen=True, slots=True)
class ClusterClosed:
    """No process of a topology's cluster is running any more."""

    topology: str


@dataclass(frozen=True, slots=True)
class CaseStarted:
    """Both arms are being set up. ``number`` counts from 1; duration_s: span of the plan's due times."""

    number: int
    case: str
    operations_per_arm: int
    episodes: int
    duration_s: float


@dataclass(frozen=True, slots=True)
class ArmsReady:
    """Both arms are warm. From here to ReadBackStarted no other work may use the CPU."""

    number: int


@dataclass(frozen=True, slots=True)
class ArmsStarted:
    """Both arms received ``go``, at most spread_ms apart."""

    number: int
    spread_ms: float


@dataclass(frozen=True, slots=True)
class OperationsEnded:
    """Running total of one member's finished operations, at most a few times a second."""

    number: int
    member: Member
    operations: int


@dataclass(frozen=True, slots=True)
class FaultInjected:
    """A fault is in effect; the record has its proof."""

    number: int
    fault: FaultRecord


@dataclass(frozen=True, slots=True)
class FaultHealed:
    """A fault has ended; same episode as its FaultInjected."""

    number: int
    fault: FaultRecord


@dataclass(frozen=True, slots=True)
class MemberLost:
    """A subject died, stalled or broke the line protocol: a result of the case. The run continues."""

    number: int
    member: Member
    signature: str
    message: str


@dataclass(frozen=True, slots=True)
class ReadBackStarted:
    """All faults are healed; late writes are drained and every queue is read to its end."""

    number: int


@dataclass(frozen=True, slots=True)
class CaseEnded:
    """The traces of this case are sealed; ended operations per arm, sends if its role is producer."""

    number: int
    case: str
    role: ClientRole
    baseline_operations: int
    candidate_operations: int
    took_s: float


@dataclass(frozen=True, slots=True)
class CaseRepeated:
    """A case of this number is run again, because guards did not hold."""

    number: int
    case: str
    why: str


@dataclass(frozen=True, slots=True)
class AnalysisStarted:
    """The stored traces are being judged."""

    cases: int
    checks: int


@dataclass(frozen=True, slots=True)
class CheckJudged:
    """One check of one case is answered."""

    result: CheckResult


@dataclass(frozen=True, slots=True)
class ReportWritten:
    """The report files exist, by format name (json, html, junit, markdown)."""

    files: tuple[tuple[str, Path], ...]


@dataclass(frozen=True, slots=True)
class RunInterrupted:
    """The user ended the run; complete cases in ``folder`` can be judged."""

    folder: Path


@dataclass(frozen=True, slots=True)
class RunFailed:
    """
    There is no verdict; the exception follows. ``machine_line``: last line of the output.

    reports: report files of the complete cases, by format name.
    """

    machine_line: str
    reports: tuple[tuple[str, Path], ...] = ()


@dataclass(frozen=True, slots=True)
class RunEnded:
    """Last event of a judged run. ``machine_line``: last line of the output."""

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
    | OperationsEnded
    | FaultInjected
    | FaultHealed
    | MemberLost
    | ReadBackStarted
    | CaseEnded
    | CaseRepeated
    | AnalysisStarted
    | CheckJudged
    | ReportWritten
    | RunInterrupted
    | RunFailed
    | RunEnded
)


class Listener(Protocol):
    """Receives events in order, on the runner's thread, which it must not block."""

    def on_event(self, event: Event) -> None:
        """Receive one event."""


def emit(listeners: Sequence[Listener], event: Event) -> None:
    """Pass one event to every listener in order."""
    for listener in listeners:
        listener.on_event(event)


class HeldEvents:
    """Passes events on to listeners, or keeps them from ``hold`` to ``release``, while another case has the word."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._listeners = listeners
        self._is_holding = False
        self._kept: list[Event] = []

    def on_event(self, event: Event) -> None:
        if self._is_holding:
            self._kept.append(event)
        else:
            emit(self._listeners, event)

    def hold(self) -> None:
        """Keep what comes from now on."""
        self._is_holding = True

    def release(self) -> None:
        """Pass on what was kept, and what comes from now on."""
        self._is_holding = False
        kept, self._kept = self._kept, []
        for event in kept:
            emit(self._listeners, event)
