"""From stored runs to a verdict: analysis, judge, report. Independent of clusters, so any run can be judged anywhere."""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from rocketdiff.analysis.run_analysis import analyze, analyze_here
from rocketdiff.analysis.spark.ahead import go_on, pause, prepare
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.answers.verdict import CheckResult
from rocketdiff.core.errors import HarnessError, UsageError
from rocketdiff.core.events import (
    AnalysisStarted,
    ArmsReady,
    CheckJudged,
    Event,
    Listener,
    ReadBackStarted,
    ReportWritten,
    RunFailed,
    emit,
)
from rocketdiff.core.files import require_nameable
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.judging.examples import contexts_of
from rocketdiff.judging.gate_rates import shipped, shipped_defects
from rocketdiff.judging.judging_code import judging_digest
from rocketdiff.judging.run_info import describe
from rocketdiff.ledger.model import Ledger
from rocketdiff.releases.jdk import find_java
from rocketdiff.report.charts.drawing import start_engine
from rocketdiff.report.clusters import clusters_of
from rocketdiff.report.document import Document, build, load
from rocketdiff.report.formats.write import render_all, write_reports
from rocketdiff.subjects.secret_removal import remove_left_secrets
from rocketdiff.traces.layout import LOGS
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import Counts, RunJudgement, RunVerdict, judge, machine_line

_LOADED_AHEAD = ("scipy.stats", "altair")
"""Libraries imported lazily: each takes longer than the rest of rocketdiff."""


_PAUSES_USED = 3
"""Pauses before the last case, each some 2 s with mostly idle CPUs; Spark and its workers need 6 s of CPU time."""


class JudgingAhead:
    """
    Listener that preloads libraries and Spark between the last cases of a run and while the last one is read back.

    Spark's processes are stopped while clients send.
    """

    def __init__(self, last: int, master: str | None) -> None:
        """last: number of the last case of a run."""
        self._first = max(1, last - _PAUSES_USED)
        self._master = master
        self._has_begun = False
        self._loaded = threading.Event()

    def on_event(self, event: Event) -> None:
        """A failed start is ignored here and reported when the library or Spark is needed."""
        match event:
            case ReadBackStarted(number) if number >= self._first:
                self._go_on()
            case ArmsReady() if self._has_begun:
                self._loaded.wait()
                pause(self._master)
            case AnalysisStarted() if self._has_begun:
                self._loaded.wait()  # concurrent imports may expose a partially initialised module

    def _go_on(self) -> None:
        if self._has_begun:
            go_on(self._master)
            return
        self._has_begun = True
        threading.Thread(target=self._load, name="libraries", daemon=True).start()
        with suppress(HarnessError):
            prepare(self._master, find_java().home, is_soon=False)

    def _load(self) -> None:
        try:
            load_libraries()
            judging_digest()
        finally:
            self._loaded.set()


def load_libraries() -> None:
    """Import what judging imports lazily; a failed import is ignored here and raised where it is needed."""
    with suppress(Exception):
        for name in _LOADED_AHEAD:
            import_module(name)
        start_engine()


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement, its document, and every report file by format."""

    judgement: RunJudgement
    document: Document
    files: tuple[tuple[str, Path], ...]


def judge_runs(
    paths: Sequence[Path],
    *,
    policy: Policy,
    ledger: Ledger | None = None,
    out: Path | None = None,
    master: str | None = None,
    listeners: Sequence[Listener] = (),
) -> Judged:
    """
    Judge one run, or several together, and write the report.

    The report goes into the run directory or to ``out``, required for several runs. Raises TraceError for an invalid
    run, UsageError for runs of different subjects.
    """
    runs = tuple(RunDirectory.open(path) for path in paths)
    remove_left_secrets({run.run: run.path / LOGS for run in runs})
    try:
        judged = _judged(runs, _report_folder(runs, out), policy, ledger, master, listeners)
    except Exception:
        # The exception reaches the user; the last line must still state that there is no verdict.
        names = "+".join(run.run for run in runs)
        line = machine_line(RunVerdict.ERROR, Counts(), seed=runs[0].manifest.seed if runs else None, run=names)
        emit(listeners, RunFailed(line))
        raise
    emit(listeners, ReportWritten(judged.files))
    return judged


def _judged(
    runs: Sequence[RunDirectory],
    folder: Path,
    policy: Policy,
    ledger: Ledger | None,
    master: str | None,
    listeners: Sequence[Listener],
) -> Judged:
    began = time.monotonic()
    _require_same_subjects(runs)
    java_home = find_java().home
    if master != WITHOUT_SPARK:  # only Spark's start leaves time to load libraries in parallel
        prepare(master, java_home, is_soon=True)
        threading.Thread(target=load_libraries, name="libraries", daemon=True).start()
    for run in runs:
        run.seal()  # the journals of an interrupted run; a finished one is unchanged
    planned = len(describe(runs, took_s=0.0).planned)
    emit(listeners, AnalysisStarted(cases=sum(len(run.cases()) for run in runs), checks=planned))
    analysis = analyze([run.path for run in runs], master=master, java_home=java_home)
    info = describe(runs, took_s=time.monotonic() - began)
    judgement = judge(analysis.evidence, info, policy, ledger)
    clusters = clusters_of(judgement.results, policy)
    document = build(
        info,
        judgement,
        analysis.plots,
        analysis.counts,
        clusters=clusters,
        contexts=contexts_of(clusters, judgement.results, policy, info, runs),
        calibration=shipped(),
        consumer_calibration=shipped(ClientRole.CONSUMER),
        defects=shipped_defects(),
    )
    for result in document.results:
        emit(listeners, CheckJudged(result))
    return Judged(judgement, document, write_reports(document, folder))


def judge_what_is_complete(
    run: RunDirectory, *, policy: Policy, ledger: Ledger | None, master: str | None
) -> tuple[tuple[str, Path], ...]:
    """
    Write a report of an aborted run for its completed cases; return nothing without any.

    The run's own error stands in for a verdict, so an error here, on a machine in trouble, is ignored.
    """
    if not any(entry.status is CaseStatus.COMPLETE for entry in run.manifest.cases):
        return ()
    with suppress(HarnessError):
        return judge_runs([run.path], policy=policy, ledger=ledger, master=master).files
    return ()


def judge_case(run: RunDirectory, number: int, policy: Policy, ledger: Ledger) -> tuple[CheckResult, ...]:
    """Return the answers of one case of a run in progress; pooled checks and the verdict require all cases."""
    part = run.only(number)
    name = run.entry(number).name
    judgement = judge(analyze_here(part).evidence, describe([part], took_s=0.0), policy, ledger)
    return tuple(result for result in judgement.results if result.case == name)


def render_again(path: Path, out: Path | None, since: Path | None = None) -> tuple[tuple[str, Path], ...]:
    """
    Render every format but JSON from the stored document; TraceError if it is invalid or too new.

    since: an earlier judged run; the comment then begins with what is new.
    """
    document, earlier = load(path), None if since is None else load(since)
    return render_all(document, out or (path if path.is_dir() else path.parent), earlier)


def _report_folder(runs: Sequence[RunDirectory], out: Path | None) -> Path:
    if out is not None:
        require_nameable(out, "--out")
        return out
    if len(runs) == 1:
        return runs[0].path
    raise UsageError("a folder for a report about several runs", seen=f"{len(runs)} runs", hint="--out FOLDER")


def _require_same_subjects(runs: Sequence[RunDirectory]) -> None:
    pairs = {" against ".join(run.manifest.subjects.values()) for run in runs}
    if len(pairs) > 1:
        raise UsageError("runs of the same two subjects", seen=", ".join(sorted(pairs)), hint="analyze them one by one")
