"""The main job: select cases, start a cluster for each topology, run every case, judge. Only the order of stages is here."""

import secrets
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from harness import __version__
from harness.cluster.interface import Cluster
from harness.cluster.start import require_backend, start_cluster
from harness.cluster.topology import topology_named
from harness.core.errors import HarnessError, UsageError
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
from harness.core.resources import resource
from harness.core.subject import SubjectId
from harness.judging import judge_runs
from harness.machine import this_machine
from harness.pairing import Pair, run_case
from harness.planned import checks_planned
from harness.releases.artifacts import client_class_path, server_class_path
from harness.releases.driver import driver_class_path
from harness.releases.jvm import find_java
from harness.releases.progress import ProgressListener
from harness.report import junit
from harness.report.junit import JUnitListener
from harness.scenario import Case, expand, load_all, select
from harness.subjects import java
from harness.subjects.registry import program_of
from harness.traces.manifest import CaseEntry, RunManifest, Tolerance
from harness.traces.plan_file import plan_digest
from harness.traces.run_directory import RunDirectory
from harness.verdict.judgement import Counts, RunVerdict, machine_line
from harness.verdict.policy import Inconclusive, Policy


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What the user asked for. ``seed`` None: drawn, printed, and part of the command that repeats the run."""

    baseline: SubjectId
    candidate: SubjectId
    suite: str | None = None
    patterns: tuple[str, ...] = ()
    scenario_root: Path | None = None
    out: Path = Path("reports")
    seed: int | None = None
    server_release: str = "5.3.3"
    backend: str = "processes"
    master: str | None = None
    policy: Policy = field(default_factory=Policy)
    progress: ProgressListener | None = None


def execute(request: RunRequest, listeners: Sequence[Listener] = ()) -> int:
    """
    Run and judge; returns the exit code.

    Raises HarnessError for what keeps the run from going on; what goes wrong with a subject or a fault inside a case is
    recorded there and judged.
    """
    began = time.monotonic()
    seed = secrets.randbelow(1 << 31) if request.seed is None else request.seed
    cases = plan_cases(request, seed)
    pair = Pair.of(program_of(request.baseline), program_of(request.candidate))
    fetch(request)
    directory = RunDirectory.create(request.out.resolve(), manifest_of(request, seed, cases))
    listeners = (*listeners, JUnitListener(directory.path / junit.FILE_NAME, request.policy))
    tell(listeners, _started(request, seed, cases, directory))
    try:
        run_cases(request, cases, pair, directory, listeners)
    except HarnessError:
        # The reason goes up to the user; whoever reads only the last line must see that there is no verdict.
        print(machine_line(RunVerdict.ERROR, Counts(), seed=seed, run=directory.run))  # noqa: T201 - for machines
        raise
    directory.end(wall_ms=time.time_ns() // 1_000_000)
    judgement = judge_runs([directory.path], master=request.master, policy=request.policy, listeners=listeners)
    code = int(judgement.exit_code)
    tell(listeners, RunEnded(directory.run, code, judgement.machine_line, time.monotonic() - began))
    return code


def fetch(request: RunRequest) -> None:
    """Everything that may have to be downloaded or compiled, before anything is started or written."""
    require_backend(request.backend)
    server_class_path(request.server_release, request.progress)
    for subject in (request.baseline, request.candidate):
        if subject.client == java.CLIENT:
            client_class_path(subject.release, request.progress)
            driver_class_path()


def plan_cases(request: RunRequest, seed: int) -> tuple[Case, ...]:
    """
    Cases in the order they run: grouped by topology, so that a cluster starts once; UsageError when nothing matches.
    """
    scenarios = load_all(request.scenario_root or resource("fixtures/scenarios"))
    chosen = select(scenarios, suite=request.suite, patterns=request.patterns)
    if not chosen:
        raise UsageError(
            "at least one scenario",
            seen=f"none in suite {request.suite or 'all'} for {', '.join(request.patterns) or 'every name'}",
            hint="rocketdiff scenarios lists them",
        )
    ordered = sorted(chosen, key=lambda scenario: (scenario.topology, scenario.name))
    return tuple(expand(scenario, request.baseline, request.candidate, seed) for scenario in ordered)


def run_cases(
    request: RunRequest, cases: Sequence[Case], pair: Pair, directory: RunDirectory, listeners: Sequence[Listener]
) -> None:
    """Run every case; each topology has its cluster, started before its first case and gone after its last."""
    numbered = list(enumerate(cases, start=1))
    for topology, group in groupby(numbered, key=lambda item: item[1].scenario.topology):
        with started(request, topology, directory, listeners) as cluster:
            for number, case in group:
                run_case(cluster, directory.case(number), case, pair, listeners)
        tell(listeners, ClusterClosed(topology))


def started(request: RunRequest, topology: str, directory: RunDirectory, listeners: Sequence[Listener]) -> Cluster:
    """A cluster of one topology, ready; its files lie in the run directory."""
    began = time.monotonic()
    tell(listeners, ClusterStarted(topology, request.backend, request.server_release))
    cluster = start_cluster(
        request.backend,
        topology,
        request.server_release,
        folder=directory.path / "cluster" / topology,
        progress=request.progress,
    )
    brokers = tuple(broker.name for broker in cluster.brokers)
    took_s = time.monotonic() - began
    tell(
        listeners,
        ClusterReady(topology, request.backend, request.server_release, brokers, cluster.name_server_addresses, took_s),
    )
    return cluster


def manifest_of(request: RunRequest, seed: int, cases: Sequence[Case]) -> RunManifest:
    """``run.json`` as it stands before the first case."""
    now = datetime.now(UTC)
    return RunManifest(
        run=f"{now:%Y%m%d-%H%M%S}-{seed:08x}",
        rocketdiff=__version__,
        created_wall_ms=int(now.timestamp() * 1_000),
        seed=seed,
        subjects={Arm.BASELINE: str(request.baseline), Arm.CANDIDATE: str(request.candidate)},
        server_release=request.server_release,
        backend=request.backend,
        suite=request.suite or "all",
        reproduce=command_line(request, seed),
        machine=this_machine(f"JDK {find_java(request.progress).version}"),
        cases=tuple(_entry(number, case) for number, case in enumerate(cases, start=1)),
    )


def command_line(request: RunRequest, seed: int) -> str:
    """What to type to repeat the run: everything that decides what it does and how it is judged."""
    words = ["rocketdiff", "run", "--subject", str(request.baseline), "--subject", str(request.candidate)]
    words += ["--suite", request.suite or "all"]
    for pattern in request.patterns:
        words += ["--scenario", pattern]
    if request.scenario_root is not None:
        words += ["--scenarios", str(request.scenario_root)]
    words += ["--server", request.server_release, "--seed", str(seed)]
    if request.policy.inconclusive is not Inconclusive.FAIL:
        words += ["--inconclusive", request.policy.inconclusive]
    return shlex.join(words + ["--strict"] * request.policy.strict)


def _entry(number: int, case: Case) -> CaseEntry:
    scenario = case.scenario
    return CaseEntry(
        number=number,
        name=str(case.id),
        scenario=scenario.name,
        scenario_text=scenario.text,
        topology=scenario.topology,
        queues_per_broker=scenario.queues_per_broker,
        settings=scenario.settings,
        threads=scenario.workload.threads,
        sends_planned=len(case.plan.sends),
        duration_s=scenario.duration_s,
        plan_digest=plan_digest(case.plan),
        checks=checks_planned(scenario),
        brokers=topology_named(scenario.topology).broker_names,
        tolerances=tuple(Tolerance(one.check, one.ratio, one.reason) for one in scenario.tolerances),
        covers=scenario.covers,
    )


def _started(request: RunRequest, seed: int, cases: Sequence[Case], directory: RunDirectory) -> RunStarted:
    return RunStarted(
        run=directory.run,
        seed=seed,
        suite=request.suite or "all",
        baseline=request.baseline,
        candidate=request.candidate,
        cases=tuple(str(case.id) for case in cases),
        checks_planned=sum(len(checks_planned(case.scenario)) for case in cases),
        folder=directory.path,
    )
