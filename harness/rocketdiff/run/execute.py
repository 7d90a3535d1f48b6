"""The stages of a run in order: select, fetch, run every case, judge. It emits events and prints nothing."""

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rocketdiff.cluster.backend import Backend
from rocketdiff.core.errors import ExitCode, HarnessError
from rocketdiff.core.events import DryRunDescribed, Listener, RunEnded, RunFailed, RunInterrupted, RunStarted, emit
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.judging.judge_runs import JudgingAhead, judge_runs, judge_what_is_complete
from rocketdiff.judging.ledgers import load as load_ledger
from rocketdiff.ledger.model import Ledger
from rocketdiff.report.formats import junit
from rocketdiff.report.formats.junit import JUnitListener
from rocketdiff.run.case_session import CaseSession
from rocketdiff.run.cluster_pool import ClusterPool
from rocketdiff.run.control_arm import ControlArm
from rocketdiff.run.dry_run import describe
from rocketdiff.run.manifest import manifest_of
from rocketdiff.run.overlap import play_overlapping
from rocketdiff.run.repeat import repeat_spoilt
from rocketdiff.run.request import RunRequest
from rocketdiff.run.selection import Choice, choose, require_pair, require_security, require_some, require_usable
from rocketdiff.scenario import Case, expand
from rocketdiff.scenario.checks_asked import count_planned
from rocketdiff.subjects.secret_removal import remove_left_secrets
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import Counts, RunVerdict, machine_line


def execute(request: RunRequest, listeners: Sequence[Listener] = ()) -> int:
    """
    Run and judge. Returns the exit code.

    Raises HarnessError if the run cannot continue. A failing subject or fault inside a case is recorded there and judged.
    """
    began = time.monotonic()
    seed = secrets.randbelow(1 << 31) if request.seed is None else request.seed
    require_possible(request)
    choice = chosen(request)
    cases = expanded(choice, request, seed)
    ledger = load_ledger(request.judging.ledgers, [case.scenario for case in cases])
    if request.is_dry:
        emit(listeners, DryRunDescribed(tuple(describe(request, cases, choice))))
        return int(ExitCode.CONFORMS)
    remove_left_secrets()
    request = fetch(request)
    directory = RunDirectory.create(request.out.resolve(), manifest_of(request, seed, cases, choice.left_out))
    listeners = (*listeners, JUnitListener(directory.path / junit.FILE_NAME, request.judging.policy))
    if not request.is_control_wanted:  # otherwise Spark would start while a control case runs
        listeners = (*listeners, JudgingAhead(len(cases), request.judging.master))
    emit(listeners, _started(request, cases, directory, choice))
    with _failure_reported(request, directory, ledger, listeners):
        run_cases(request, cases, directory, listeners)
    policy, master = request.judging.policy, request.judging.master
    with _interruption_reported(directory, listeners):
        judged = judge_runs([directory.path], master=master, policy=policy, ledger=ledger, listeners=listeners)
    code = int(judged.judgement.exit_code)
    emit(listeners, RunEnded(directory.run, code, judged.judgement.machine_line, time.monotonic() - began))
    return code


@contextmanager
def _failure_reported(
    request: RunRequest, directory: RunDirectory, ledger: Ledger, listeners: Sequence[Listener]
) -> Iterator[None]:
    """If the cases cannot all run, report on the complete ones and emit RunFailed. There is no verdict."""
    try:
        with _interruption_reported(directory, listeners):
            yield
    except Exception as error:
        reports: tuple[tuple[str, Path], ...] = ()
        if isinstance(error, HarnessError):
            policy, master = request.judging.policy, request.judging.master
            reports = judge_what_is_complete(directory, policy=policy, ledger=ledger, master=master)
        # The user sees the exception; a program that reads only the last line must see that there is no verdict.
        line = machine_line(RunVerdict.ERROR, Counts(), seed=directory.manifest.seed, run=directory.run)
        emit(listeners, RunFailed(line, reports))
        raise


@contextmanager
def _interruption_reported(directory: RunDirectory, listeners: Sequence[Listener]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        emit(listeners, RunInterrupted(directory.path))
        raise


def require_possible(request: RunRequest) -> None:
    """UsageError for everything that can be checked before reading scenarios, fetching or starting."""
    require_usable(request.out, request.judging.master)
    require_pair(request.baseline, request.candidate)
    require_security(request.subjects, request.backend)


def fetch(request: RunRequest) -> RunRequest:
    """Download or compile everything missing. The returned request's backend knows its server release."""
    backend = request.backend.fetch(request.progress)
    for subject in request.subjects:
        subject.fetch(request.progress)
    return replace(request, backend=backend)


def plan_cases(request: RunRequest, seed: int) -> tuple[Case, ...]:
    """Cases in the order they run: grouped by topology, so each cluster starts once. UsageError if nothing matches."""
    return expanded(chosen(request), request, seed)


def chosen(request: RunRequest) -> Choice:
    """Selected scenarios, and those left out with the reason. Reads every scenario file."""
    return choose(request.selection, request.subjects, request.backend)


def expanded(choice: Choice, request: RunRequest, seed: int) -> tuple[Case, ...]:
    """Cases of a choice, ordered as in plan_cases."""
    require_some(choice, request.selection)
    ordered = sorted(choice.scenarios, key=lambda scenario: (scenario.topology, scenario.name))
    pair, longest_ms = (request.baseline.id, request.candidate.id), request.attempt_timeout_ms
    cases = (expand(scenario, *pair, seed, longest_ms) for scenario in ordered)
    return tuple(_there(case, request.backend) for case in cases)


def _there(case: Case, backend: Backend) -> Case:
    """The case with the node names of the backend."""
    topology, scenario = topology_named(case.scenario.topology), case.scenario
    faults = backend.named(topology, scenario.faults)
    return replace(case, scenario=replace(scenario, faults=faults), brokers=backend.brokers(topology))


def run_cases(
    request: RunRequest, cases: Sequence[Case], directory: RunDirectory, listeners: Sequence[Listener]
) -> None:
    """Run every case; the cases of a topology share one cluster."""
    folder, progress = directory.path / "cluster", request.progress
    with ClusterPool(request.backend, folder, keeps_files=True, listeners=listeners, progress=progress) as clusters:
        session = CaseSession(request, directory, clusters, listeners)
        controls = ControlArm.of(request, cases, directory, clusters) if request.is_control_wanted else None
        if controls is None and request.most_failures is None:
            play_overlapping(session, cases)
            repeat_spoilt(session, cases)
        else:
            for number in play(session, cases, request.most_failures):
                if controls is not None:
                    controls.follow(directory.case(number))
    if controls is not None:
        controls.end()
    directory.end(wall_ms=time.time_ns() // 1_000_000)


def play(session: CaseSession, cases: Sequence[Case], most_failures: int | None) -> Iterator[int]:
    """
    Run the cases in order, and yield the number of each that has run.

    most_failures: each case is judged at once, and none is run after so many diverged; None: they are judged together later.
    """
    left = most_failures
    for number, case in enumerate(cases, start=1):
        if left is None:
            session.play(number, case)
        elif left > 0:
            left -= session.run(number, case).verdict is RunVerdict.DIVERGES
        else:
            session.directory.case(number).abort(f"not run: --max-failures {most_failures} was reached")
            continue
        yield number


def _started(request: RunRequest, cases: Sequence[Case], directory: RunDirectory, choice: Choice) -> RunStarted:
    return RunStarted(
        run=directory.run,
        seed=directory.manifest.seed,
        suite=request.selection.suite_name,
        baseline=request.baseline.id,
        candidate=request.candidate.id,
        cases=tuple(str(case.id) for case in cases),
        checks_planned=count_planned([case.scenario for case in cases], str(request.baseline), str(request.candidate)),
        folder=directory.path,
        left_out=choice.without_call,
        without_group=choice.without_group,
        not_here=choice.not_here,
    )
