"""The main job: select cases, start a cluster for each topology, run every case, judge. Only the order of stages is here."""

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from harness import __version__
from harness.cluster.interface import Cluster
from harness.cluster.start import start_cluster
from harness.core.errors import ClusterError, ExitCode, FaultNotProven, UsageError
from harness.core.events import (
    Arm,
    ClusterClosed,
    ClusterReady,
    ClusterStarted,
    Listener,
    RunEnded,
    RunStarted,
    tell,
)
from harness.core.subject import SubjectId
from harness.judging import judge_runs, planned_checks
from harness.machine import this_machine
from harness.pairing import Pairing, run_case
from harness.releases.jvm import find_java
from harness.scenario import Case, expand, load_all, select
from harness.subjects import subject_for
from harness.traces.manifest import CaseEntry, RunManifest
from harness.traces.plan_file import plan_digest
from harness.traces.run_directory import RunDirectory
from harness.verdict.policy import Policy


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What the user asked for. ``seed`` None: drawn, printed, and part of the command that repeats the run."""

    baseline: SubjectId
    candidate: SubjectId
    suite: str = "quick"
    patterns: tuple[str, ...] = ()
    scenario_root: Path | None = None
    out: Path = Path("reports")
    seed: int | None = None
    server_release: str = "5.3.3"
    backend: str = "processes"
    master: str | None = None
    policy: Policy = field(default_factory=Policy)


def execute(request: RunRequest, listeners: Sequence[Listener] = ()) -> int:
    """
    Run and judge; returns the exit code.

    Raises HarnessError for whatever keeps the run from starting; what goes wrong inside a case is recorded there.
    """
    began = time.monotonic()
    seed = secrets.randbelow(1 << 31) if request.seed is None else request.seed
    cases = plan_cases(request, seed)
    directory = RunDirectory.create(request.out, manifest_of(request, seed, cases))
    tell(listeners, _started(request, seed, cases, directory))
    run_cases(request, cases, directory, listeners)
    directory.end(wall_ms=time.time_ns() // 1_000_000)
    judgement = judge_runs([directory.path], master=request.master, policy=request.policy, listeners=listeners)
    tell(
        listeners,
        RunEnded(directory.run, int(judgement.exit_code), judgement.machine_line, time.monotonic() - began),
    )
    return int(judgement.exit_code)
