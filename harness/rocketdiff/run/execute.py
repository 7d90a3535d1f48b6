"""
The main job: select cases, start a cluster for each topology, run every case, judge. Only the order of stages is here.

It is long because each stage is named once, with what it hands on to the next.
"""

import secrets
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from rocketdiff import __version__
from rocketdiff.cluster.described import DescribedCluster
from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.start import fetch_servers, require_backend, start_cluster
from rocketdiff.core.errors import ExitCode, HarnessError
from rocketdiff.core.events import (
    Arm,
    ClusterClosed,
    ClusterReady,
    ClusterStarted,
    Listener,
    RunEnded,
    RunStarted,
    tell,
)
from rocketdiff.core.policy import Inconclusive, Policy
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.topology import topology_named
from rocketdiff.judging.judge_runs import judge_runs, judge_what_is_complete
from rocketdiff.judging.ledgers import LedgerChoice
from rocketdiff.judging.ledgers import load as load_ledger
from rocketdiff.judging.run_info import file_named
from rocketdiff.releases.artifacts import client_class_path
from rocketdiff.releases.cpp_client import cpp_client
from rocketdiff.releases.driver import driver_class_path
from rocketdiff.releases.jvm import find_java
from rocketdiff.releases.machine import this_machine
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.report import junit
from rocketdiff.report.junit import JUnitListener
from rocketdiff.run.case import Pair, run_case
from rocketdiff.run.control_arm import FOLDER as CONTROL_FOLDER
from rocketdiff.run.control_arm import ControlArm, control_cases
from rocketdiff.run.dry_run import told
from rocketdiff.run.external import BACKEND, described_by, on, release_there, require_release
from rocketdiff.run.selection import Choice, choose, require_pair, require_some, require_usable
from rocketdiff.scenario import Case, expand
from rocketdiff.scenario.checks_asked import checks_planned, count_planned
from rocketdiff.subjects.kinds import cpp, java
from rocketdiff.subjects.registry import program_of
from rocketdiff.traces.manifest import CaseEntry, RunManifest, Tolerance
from rocketdiff.traces.plan_file import plan_digest
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judgement import Counts, RunVerdict, machine_line


@dataclass(frozen=True, slots=True)
class RunRequest:
    """
    What the user asked for. ``seed`` None: drawn, printed, and part of the command that repeats the run.

    is_wire_wanted: relays before both arms also where nothing needs them.
    is_control_wanted: after each case the same one of the baseline against itself.
    is_dry: say what would be done, and do nothing. described: somebody's own cluster, once its file has been read.
    """

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
    ledgers: LedgerChoice = field(default_factory=LedgerChoice)
    is_wire_wanted: bool = False
    is_control_wanted: bool = False
    is_dry: bool = False
    described: DescribedCluster | None = None
    progress: ProgressListener | None = None


def execute(request: RunRequest, listeners: Sequence[Listener] = ()) -> int:
    """
    Run and judge; returns the exit code.

    Raises HarnessError for what keeps the run from going on; what goes wrong with a subject or a fault inside a case is
    recorded there and judged.
    """
    began = time.monotonic()
    seed = secrets.randbelow(1 << 31) if request.seed is None else request.seed
    request = possible(request)
    choice = chosen(request)
    cases = expanded(choice, request, seed)
    ledger = load_ledger(request.ledgers, [case.scenario for case in cases])
    pair = Pair.of(program_of(request.baseline), program_of(request.candidate))
    if request.is_dry:
        return _told(request, cases, choice)
    request = replace(request, server_release=release_there(request.described, request.server_release))
    fetch(request)
    directory = RunDirectory.create(request.out.resolve(), manifest_of(request, seed, cases, choice.left_out))
    listeners = (*listeners, JUnitListener(directory.path / junit.FILE_NAME, request.policy))
    tell(listeners, _started(request, cases, directory, choice))
    with found_again(directory.path):
        try:
            run_cases(request, cases, pair, directory, listeners)
        except Exception as error:
            if isinstance(error, HarnessError):
                left = judge_what_is_complete(directory, policy=request.policy, ledger=ledger, master=request.master)
                for _, file in left[:1]:
                    print(f"the cases that were complete are judged in {file}")  # noqa: T201 - the run's own answer is below
            # The reason goes up to the user; whoever reads only the last line must see that there is no verdict.
            print(machine_line(RunVerdict.ERROR, Counts(), seed=seed, run=directory.run))  # noqa: T201 - for machines
            raise
        directory.end(wall_ms=time.time_ns() // 1_000_000)
        judgement = judge_runs(
            [directory.path], master=request.master, policy=request.policy, ledger=ledger, listeners=listeners
        )
    code = int(judgement.exit_code)
    tell(listeners, RunEnded(directory.run, code, judgement.machine_line, time.monotonic() - began))
    return code


@contextmanager
def found_again(path: Path) -> Iterator[None]:
    """Tell whoever interrupts a run how to judge what there is of it."""
    try:
        yield
    except KeyboardInterrupt:
        command = shlex.join(["rocketdiff", "analyze", str(path)])
        print(f"what there is of the run can be judged: {command}", file=sys.stderr)  # noqa: T201 - the command line says the rest
        raise


def possible(request: RunRequest) -> RunRequest:
    """
    The request, with the description of somebody's own cluster read; the one place that the command line and pytest ask.

    Raises UsageError for whatever of it can be known to be wrong before a scenario is read or anything is fetched or started.
    """
    require_backend(request.backend)
    require_usable(request.out, request.master)
    require_pair(request.baseline, request.candidate)
    described = described_by(request.backend)
    require_release(request.server_release, request.backend, described)
    return replace(request, described=described)


def _told(request: RunRequest, cases: Sequence[Case], choice: Choice) -> int:
    described = request.described
    release = request.server_release if described is None else described.server_release or "as its brokers say"
    for line in told(cases, choice, described, release, is_control_wanted=request.is_control_wanted):
        print(line)  # noqa: T201 - what was asked for
    print(_terms(request))  # noqa: T201
    return int(ExitCode.CONFORMS)


def _terms(request: RunRequest) -> str:
    """By what it would be run and judged, in one line of a dry run."""
    ledgers = [*(["the shipped ones"] if request.ledgers.shipped else []), *map(str, request.ledgers.files)]
    relays = ", relays before both clients" if request.is_wire_wanted else ""
    strict = ", strict" if request.policy.strict else ""
    return (
        f"suite {request.suite or 'all'} on {request.backend}{relays}; ledgers: {' and '.join(ledgers) or 'none'};"
        f" inconclusive: {request.policy.inconclusive.value}{strict}"
    )


def fetch(request: RunRequest) -> None:
    """Everything that may have to be downloaded or compiled, before anything is started or written."""
    require_backend(request.backend)
    if request.described is None:
        fetch_servers(request.backend, request.server_release, request.progress)
    for subject in (request.baseline, request.candidate):
        if subject.client == java.CLIENT:
            client_class_path(subject.release, request.progress)
            driver_class_path()
        elif subject.client == cpp.CLIENT:
            cpp_client(request.progress)


def plan_cases(request: RunRequest, seed: int) -> tuple[Case, ...]:
    """
    Cases in the order they run: grouped by topology, so that a cluster starts once; UsageError when nothing matches.
    """
    return expanded(chosen(request), request, seed)


def chosen(request: RunRequest) -> Choice:
    """Which scenarios are asked for, and which of them are left out and why; every scenario file is read for it."""
    subjects = (request.baseline, request.candidate)
    return choose(request.scenario_root, request.suite, request.patterns, subjects, request.backend, request.described)


def expanded(choice: Choice, request: RunRequest, seed: int) -> tuple[Case, ...]:
    """The cases of what was chosen, as plan_cases has them."""
    require_some(choice, request.suite, request.patterns)
    ordered = sorted(choice.scenarios, key=lambda scenario: (scenario.topology, scenario.name))
    cases = (expand(scenario, request.baseline, request.candidate, seed) for scenario in ordered)
    return tuple(on(request.described, case) for case in cases)


def run_cases(
    request: RunRequest, cases: Sequence[Case], pair: Pair, directory: RunDirectory, listeners: Sequence[Listener]
) -> None:
    """Run every case; each topology has its cluster, started before its first case and gone after its last."""
    numbered = list(enumerate(cases, start=1))
    controls = control_arm(request, cases, pair, directory) if request.is_control_wanted else None
    for topology, group in groupby(numbered, key=lambda item: item[1].scenario.topology):
        with started(request, topology, directory, listeners) as cluster:
            for number, case in group:
                run_case(cluster, directory.case(number), case, pair, listeners, is_wire_wanted=request.is_wire_wanted)
                if controls is not None:
                    controls.follow(cluster, directory.case(number))
        tell(listeners, ClusterClosed(topology))
    if controls is not None:
        controls.end()


def control_arm(request: RunRequest, cases: Sequence[Case], pair: Pair, directory: RunDirectory) -> ControlArm:
    """The same cases of the baseline against itself, in a run directory of their own below the run's."""
    own = control_cases(cases)
    asked = replace(request, candidate=request.baseline, is_control_wanted=False)
    run = f"{directory.run}-{CONTROL_FOLDER}"
    manifest = replace(manifest_of(asked, directory.manifest.seed, own), run=run, shipped_ledgers=False)
    return ControlArm(
        RunDirectory.create(directory.path / CONTROL_FOLDER, manifest), own, pair, is_wire_wanted=request.is_wire_wanted
    )


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
        described=request.described,
    )
    brokers = tuple(broker.name for broker in cluster.brokers)
    took_s = time.monotonic() - began
    tell(
        listeners,
        ClusterReady(topology, request.backend, request.server_release, brokers, cluster.name_server_addresses, took_s),
    )
    return cluster


def manifest_of(
    request: RunRequest, seed: int, cases: Sequence[Case], left_out: tuple[tuple[str, str], ...] = ()
) -> RunManifest:
    """``run.json`` as it stands before the first case."""
    now = datetime.now(UTC)
    return RunManifest(
        run=f"{now:%Y%m%d-%H%M%S}-{seed:08x}",
        rocketdiff=__version__,
        created_wall_ms=int(now.timestamp() * 1_000),
        seed=seed,
        subjects={Arm.BASELINE: str(request.baseline), Arm.CANDIDATE: str(request.candidate)},
        server_release=request.server_release,
        backend=request.backend if request.described is None else f"{BACKEND} ({request.described.name})",
        suite=request.suite or "all",
        reproduce=command_line(request, seed),
        shipped_ledgers=request.ledgers.shipped,
        machine=this_machine(f"JDK {find_java(request.progress).version}"),
        cases=tuple(entry_of(number, case) for number, case in enumerate(cases, start=1)),
        left_out=left_out,
    )


def command_line(request: RunRequest, seed: int) -> str:
    """What to type to repeat the run: everything that decides what it does and how it is judged."""
    words = ["rocketdiff", "run", "--subject", str(request.baseline), "--subject", str(request.candidate)]
    words += ["--suite", request.suite or "all"]
    for pattern in request.patterns:
        words += ["--scenario", pattern]
    if request.scenario_root is not None:
        words += ["--scenarios", str(request.scenario_root)]
    # Somebody's own cluster says its release itself.
    words += ["--server", request.server_release] if request.described is None else []
    words += ["--cluster", request.backend] if request.backend != "processes" else []
    words += ["--seed", str(seed)]
    if request.policy.inconclusive is not Inconclusive.FAIL:
        words += ["--inconclusive", request.policy.inconclusive]
    for file in request.ledgers.files:
        words += ["--ledger", str(file)]
    words += ["--wire"] * request.is_wire_wanted + ["--control"] * request.is_control_wanted
    words += ["--no-ledger"] * (not request.ledgers.shipped)
    return shlex.join(words + ["--strict"] * request.policy.strict)


def entry_of(number: int, case: Case) -> CaseEntry:
    """What ``run.json`` says about a case before it began."""
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
        brokers=case.brokers or topology_named(scenario.topology).broker_names,
        tolerances=tuple(Tolerance(one.check, one.ratio, one.reason) for one in scenario.tolerances),
        covers=scenario.covers,
        scenario_file=file_named(scenario.source),
    )


def _started(request: RunRequest, cases: Sequence[Case], directory: RunDirectory, choice: Choice) -> RunStarted:
    return RunStarted(
        run=directory.run,
        seed=directory.manifest.seed,
        suite=request.suite or "all",
        baseline=request.baseline,
        candidate=request.candidate,
        cases=tuple(str(case.id) for case in cases),
        checks_planned=count_planned([case.scenario for case in cases], str(request.baseline), str(request.candidate)),
        folder=directory.path,
        left_out=choice.without_call,
        not_here=choice.not_here,
    )
