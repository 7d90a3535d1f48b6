"""
Measures the gate's false alarms: runs a client against itself many times.

Each result goes into a journal at once, so a stopped calibration resumes without losing or omitting results. A case that
alarmed keeps its run directory.
"""

import os
import shlex
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from rocketdiff import __version__
from rocketdiff.analysis.run_analysis import analyze
from rocketdiff.calibration.journal import CalibrationJournal, JournalHeader, Line, plan_digest
from rocketdiff.calibration.plan import ControlCase, control_case, gate_runs
from rocketdiff.cluster.backend import Backend
from rocketdiff.cluster.start import own_backend_named
from rocketdiff.core.errors import EnvironmentMissing, HarnessError
from rocketdiff.core.files import require_folder
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.documents.files import replace_file
from rocketdiff.judging.gate_rates import encode, source_digest
from rocketdiff.judging.judging_code import judging_digest
from rocketdiff.judging.run_info import describe
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.machine import this_machine
from rocketdiff.run.case_session import CaseSession
from rocketdiff.run.cluster_pool import ClusterPool
from rocketdiff.run.execute import fetch
from rocketdiff.run.many import FAILURES_IN_A_ROW, is_hopeless
from rocketdiff.run.request import WITHOUT_LEDGERS, RunRequest
from rocketdiff.subjects.registry import published
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.calibration import SCHEMA_VERSION, Calibration
from rocketdiff.verdict.gate_rate_tally import ControlOutcome, TalliedAnswer, found, summed
from rocketdiff.verdict.judge import judge

DEFAULT_BACKEND = "processes"
CASES_A_CLUSTER = 100
"""Every case leaves three topics, and brokers with thousands of topics become slow."""

JUDGING_SOURCE = judging_digest()
"""Digest of the judging code at the start of this process, because the loaded code judges."""

PrintLine = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class CalibrationRequest:
    """The user's request. ``out`` is the folder of the journal; keep: leave every run there, so that it can be judged again."""

    cases: int
    out: Path
    seed: int
    server_release: str
    backend: str = DEFAULT_BACKEND
    keep: bool = False
    role: ClientRole = ClientRole.PRODUCER

    @property
    def servers(self) -> Backend:
        """UsageError for an unknown backend or an external cluster."""
        return own_backend_named(self.backend, self.server_release, hint="processes or containers")


def require_possible(request: CalibrationRequest) -> None:
    """UsageError for a wrong value, EnvironmentMissing if the folder is unusable. Downloads and starts nothing."""
    _ = request.servers
    require_folder(request.out, "--out")


def journal_of(request: CalibrationRequest) -> CalibrationJournal:
    """The journal in the request's folder, created or resumed."""
    machine = this_machine(f"JDK {find_java().version}")
    header = JournalHeader(
        request.seed, request.server_release, request.backend, __version__, machine, plan_digest(), request.role
    )
    return CalibrationJournal.open(request.out.resolve(), header)


def run_controls(request: CalibrationRequest, journal: CalibrationJournal, print_line: PrintLine) -> None:
    """
    Run the cases of the plan that are not in the journal.

    An aborted case (a cluster that died) is counted as such; the next one gets a new cluster. Raises HarnessError after
    several in a row, and if a cluster does not start.
    """
    done = {outcome.number for outcome in journal.cases}
    judged = {outcome.number for outcome in journal.runs}
    with clusters_of(request, journal.folder) as clusters:
        for run, cases in gate_runs(request.seed, request.cases, request.role):
            waiting = [case for case in cases if case.number not in done]
            if waiting:
                _gate_run(request, journal, clusters, waiting, print_line)
            if run not in judged:
                _count_gate_run(request, journal, run, cases, print_line)


def clusters_of(request: CalibrationRequest, folder: Path) -> ClusterPool:
    """The pool of clusters that cases share."""
    return ClusterPool(request.servers, folder / "cluster", max_cases=CASES_A_CLUSTER)


def _gate_run(
    request: CalibrationRequest,
    journal: CalibrationJournal,
    clusters: ClusterPool,
    cases: Sequence[ControlCase],
    print_line: PrintLine,
) -> None:
    """Run the cases of one client in one run directory, each judged and counted at once."""
    session = _session(request, cases, clusters, journal.folder / _run_folder(cases[0].run))
    folder = session.directory.path.relative_to(journal.folder)
    for place, control in enumerate(cases, start=1):
        outcome, took_s = _counted(session, place, control)
        journal.add(line_now(took_s, folder, case=outcome))
        print_line(
            f"{control.number:4d} of {request.cases}  {outcome_words(outcome)}  {control.case.id}  {took_s:.1f} s"
        )
        _require_working(journal)
    session.end()


def _session(
    request: CalibrationRequest, cases: Sequence[ControlCase], clusters: ClusterPool, root: Path
) -> CaseSession:
    subject, seed = cases[0].subject, cases[0].seed
    return CaseSession.begin(
        fetch(
            RunRequest(
                published(subject), published(subject), backend=request.servers, judging=WITHOUT_LEDGERS, seed=seed
            )
        ),
        clusters,
        root,
        [case.case for case in cases],
        suffix=f"-{cases[0].number:04d}",  # a calibration resumed within a second has the same time and seed
        reproduce=f"{command_of(request.seed, request.server_release, request.backend, request.role)} --only {cases[0].number}",
        suite="control",
    )


def command_of(seed: int, server_release: str, backend: str, role: ClientRole) -> str:
    """The command that draws and runs the same cases again."""
    words = ["rocketdiff", "calibrate", "--seed", str(seed), "--server", server_release]
    words += ["--role", role.value] if role is not ClientRole.PRODUCER else []
    return shlex.join([*words, *(("--cluster", backend) if backend != DEFAULT_BACKEND else ())])


def _run_folder(run: int) -> Path:
    return Path("runs") / f"{run:04d}"


def _counted(session: CaseSession, place: int, control: ControlCase) -> tuple[ControlOutcome, float]:
    began = time.monotonic()
    scenario = control.case.scenario
    mode = scenario.workload.mode.value if scenario.role is ClientRole.PRODUCER else ""
    outcome = ControlOutcome(control.number, str(control.case.id), str(control.subject), (), mode=mode)
    session.require_cluster(control.case)
    try:
        results = session.run(place, control.case).results
    except EnvironmentMissing:
        raise
    except HarnessError as error:
        return replace(outcome, trouble=str(error)), time.monotonic() - began
    answers = tuple(TalliedAnswer.of(result) for result in results)
    return replace(outcome, answers=answers), time.monotonic() - began


def line_now(
    took_s: float, folder: Path, *, case: ControlOutcome | None = None, run: ControlOutcome | None = None
) -> Line:
    """
    A line of the journal.

    The digest is of the program on disk now, because the subjects of every case are started from there.
    """
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else 0.0
    at = datetime.now(UTC).isoformat(timespec="seconds")
    source = source_digest()
    return Line(at, load, round(took_s, 1), source, folder.as_posix(), case, run, judging_source=JUDGING_SOURCE)


def outcome_words(outcome: ControlOutcome) -> str:
    """One outcome in words."""
    if outcome.trouble:
        return f"broke off: {outcome.trouble}"
    if outcome.has_alarm:
        return "ALARM " + ", ".join(f"{a.check} {' '.join(a.signatures)}" for a in outcome.answers if a.is_alarm)
    return "invalid" if outcome.is_invalid else "quiet" if outcome.is_decided else "undecided"


def _require_working(journal: CalibrationJournal) -> None:
    if is_hopeless([bool(outcome.trouble) for outcome in journal.cases]):
        seen = f"{FAILURES_IN_A_ROW} in a row that broke off: {journal.cases[-1].trouble}"
        raise HarnessError("control cases to come to their end", seen=seen)


def _count_gate_run(
    request: CalibrationRequest,
    journal: CalibrationJournal,
    run: int,
    cases: Sequence[ControlCase],
    print_line: PrintLine,
) -> None:
    """
    Judge the pooled checks of a gate run, and count them.

    An interrupted gate run has several run directories. They are removed unless kept or needed to explain an alarm.
    """
    began, folder = time.monotonic(), journal.folder / _run_folder(run)
    members = [member for member in journal.cases if member.number in {case.number for case in cases}]
    outcome = judged_together(folder, run, members)
    journal.add(line_now(time.monotonic() - began, _run_folder(run), run=outcome))
    if not request.keep and not outcome.has_alarm and not any(member.trouble for member in members):
        shutil.rmtree(folder, ignore_errors=True)
    print_line(f"gate run {run} of {outcome.subject}: pooled checks {outcome_words(outcome)}")


def judged_together(folder: Path, run: int, members: Sequence[ControlOutcome]) -> ControlOutcome:
    """Return the outcome of a gate run's pooled checks, with all its samples as one family. members: its cases, in order."""
    directories = sorted(path.parent for path in folder.glob("*/run.json"))
    judgement = judge(
        analyze(directories, master=WITHOUT_SPARK).evidence,
        describe([RunDirectory.open(path) for path in directories], took_s=0.0),
    )
    own, subject = {member.case for member in members}, members[0].subject
    answers = tuple(TalliedAnswer.of(result) for result in judgement.results if result.case not in own)
    alarmed = any(member.has_alarm for member in members)
    return ControlOutcome(run, f"gate run {run} of {subject}", subject, answers, cases_alarmed=alarmed)


def run_single(request: CalibrationRequest, number: int, print_line: PrintLine) -> Path:
    """Run one control case again without counting it. Returns its run directory."""
    control = control_case(request.seed, number, request.role)
    folder = request.out.resolve() / "single"
    with clusters_of(request, folder) as clusters:
        session = _session(request, [control], clusters, folder)
        outcome, took_s = _counted(session, 1, control)
    session.end()
    print_line(f"{number}  {outcome_words(outcome)}  {control.case.id}  {took_s:.1f} s")
    return session.directory.path


def calibration_of(journal: CalibrationJournal) -> Calibration:
    """Everything counted so far, as published. HarnessError if there is nothing."""
    if not journal.lines:
        raise HarnessError("at least one counted case", seen="none", hint="run `make calibrate`")
    header, moments = journal.header, sorted(line.at for line in journal.lines)
    return Calibration(
        schema_version=SCHEMA_VERSION,
        rocketdiff=header.rocketdiff,
        sources=tuple(dict.fromkeys(line.source for line in journal.lines)),
        first_at=moments[0],
        last_at=moments[-1],
        server_release=header.server_release,
        backend=header.backend,
        machine=header.machine,
        load_median=median(line.load for line in journal.lines),
        command=command_of(header.seed, header.server_release, header.backend, header.role),
        controls=summed(journal.cases, journal.runs),
        sensitivity=found(journal.known),
        judging_sources=tuple(dict.fromkeys(line.judging_source for line in journal.lines)),
        role=header.role,
    )


def write_calibration(journal: CalibrationJournal, path: Path) -> Calibration:
    """Write everything counted so far, atomically."""
    calibration = calibration_of(journal)
    replace_file(path, encode(calibration))
    return calibration
