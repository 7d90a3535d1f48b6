"""
Runs what a matrix still lacks: one run after another, each whole or not at all.

A subject that cannot be had on this machine, or a run that fails, is told in its column and does not end the matrix.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from statistics import mean

from rocketdiff import __version__
from rocketdiff.analysis.masters import WITHOUT_SPARK
from rocketdiff.cluster.start import backend_named
from rocketdiff.core.errors import EnvironmentMissing, HarnessError, TraceError, UsageError
from rocketdiff.core.events import Event, Listener, RunEnded, RunStarted
from rocketdiff.core.policy import Policy
from rocketdiff.judging.gate_rates import judging_digest
from rocketdiff.judging.judge_runs import judge_runs
from rocketdiff.judging.ledgers import LedgerChoice, shipped_files
from rocketdiff.judging.ledgers import load as load_ledger
from rocketdiff.matrix.file_format import at
from rocketdiff.matrix.finished_runs import FinishedRun, FinishedRuns, Terms
from rocketdiff.matrix.plan import ColumnPlan, MatrixPlan, Work
from rocketdiff.releases.progress import ProgressListener
from rocketdiff.report.words import duration
from rocketdiff.run.execute import execute
from rocketdiff.run.options import pair_of
from rocketdiff.run.request import Judging, RunRequest, Selection, with_their_own
from rocketdiff.run.selection import choose, require_pair, require_some
from rocketdiff.scenario import Scenario, load_all, select
from rocketdiff.subjects.subject import Subject

Say = Callable[[str], None]

FAILURES_IN_A_ROW = 3
"""After this many runs in a row that ended in an error of ours the matrix stops: the machine does not work."""

BESIDE_SENDS_S = 5.0
"""Of a case, besides its sends: warming up, healing, reading back, its share of a cluster's start and of judging. The quick suite: 6 cases with 32 s of sends in 60 to 80 s."""


@dataclass(slots=True)
class Measured:
    """
    What there is of a matrix: finished runs by column and work, and why others are missing.

    pairs: baseline and subject of each column whose subject could be resolved.
    """

    plan: MatrixPlan
    runs: FinishedRuns
    finished: dict[tuple[ColumnPlan, Work], FinishedRun] = field(default_factory=dict)
    reasons: dict[tuple[ColumnPlan, Work], str] = field(default_factory=dict)
    pairs: dict[ColumnPlan, tuple[Subject, Subject]] = field(default_factory=dict)


def found(plan: MatrixPlan, out: Path) -> Measured:
    """What is there, told by what was typed: nothing is resolved, started or judged."""
    measured = Measured(plan, FinishedRuns(out / "runs"))
    for run in measured.runs.all():
        asked = run.terms
        for column, work in plan.runs():
            same = (asked.specs, asked.suite, asked.patterns, asked.seed, asked.server, asked.cluster)
            wanted = ((column.baseline, column.spec), work.suite, work.patterns, work.seed, plan.server, plan.cluster)
            there = measured.finished.get((column, work))
            if same == wanted and (there is None or there.run < run.run):  # of several, the last one that was made
                measured.finished[column, work] = run
    return measured


class Measuring:
    """Makes the runs of a plan below ``out``. on_change: called whenever there is more to write."""

    def __init__(
        self,
        plan: MatrixPlan,
        out: Path,
        say: Say,
        *,
        listeners: Sequence[Listener] = (),
        progress: ProgressListener | None = None,
        on_change: Callable[[Measured], object] = lambda _: None,
    ) -> None:
        self._plan = plan
        self._say = say
        self._listeners = tuple(listeners)
        self._progress = progress
        self._on_change = on_change
        self._backend = backend_named(plan.cluster, plan.server, plan.security)
        self._digests: dict[tuple[str | None, tuple[str, ...]], tuple[str, float]] = {}
        self._failures = 0
        self.measured = Measured(plan, FinishedRuns(out / "runs"))

    def prepare(self) -> None:
        """
        Checks what can be checked before anything is run, and resolves every subject once; UsageError with the line of the file.

        A subject that this machine cannot give (EnvironmentMissing) is a column without runs.
        """
        load_ledger(self._ledgers, self._scenarios)
        for column in self._plan.columns:
            try:
                pair = pair_of([column.baseline, column.spec])
                require_pair(*pair)
                self.measured.pairs[column] = pair
            except EnvironmentMissing as problem:
                self._give_up(column, problem)
                continue
            except UsageError as problem:
                raise at(column, problem) from problem
            for work in column.work:
                self._require_scenarios(column, pair[0], work)
        there = found(self._plan, self.measured.runs.folder.parent).finished
        for column, work in self._plan.runs():
            is_here = column in self.measured.pairs
            # Of a subject that cannot be asked who it is what was typed must do: what was measured of it is still true.
            kept = self.measured.runs.find(self._terms(column, work)) if is_here else there.get((column, work))
            if kept is not None:
                self.measured.finished[column, work] = kept
                self.measured.reasons.pop((column, work), None)

    def run(self, at_most: int | None = None) -> Measured:
        """Every run that is missing, or only the first of them; raises HarnessError when several in a row fail."""
        planned = list(self._plan.runs())
        if len(self.measured.finished) < len(planned):
            self._backend = self._backend.fetched(self._progress)
        if self.measured.finished:
            self._say(
                f"{len(self.measured.finished)} of {len(planned)} runs are taken over from {self.measured.runs.folder}"
            )
        begun = 0
        for number, (column, work) in enumerate(planned, start=1):
            self._judge_again(column, work)
            if (column, work) in self.measured.finished:
                continue
            if (column, work) not in self.measured.reasons and (at_most is None or begun < at_most):
                begun += 1
                self._say(f"run {number} of {len(planned)}: {column.spec}, {work.name}; {self._time_left()}")
                self._one(column, work)
                self._on_change(self.measured)
        return self.measured

    def _one(self, column: ColumnPlan, work: Work) -> None:
        terms, began, heard = self._terms(column, work), time.monotonic(), _Heard()
        request = replace(self._request(column, work), out=self.measured.runs.clear(terms))
        try:
            execute(request, (*self._listeners, heard))
        except HarnessError as problem:
            if not heard.folder and isinstance(problem, EnvironmentMissing | UsageError):
                self._give_up(column, problem, work if isinstance(problem, UsageError) else None)
                return
            self.measured.reasons[column, work] = f"the run failed: {problem}"
            self._say(f"  failed: {problem}")
            self._failures += 1
            if self._failures == FAILURES_IN_A_ROW:
                raise
            return
        self._failures = 0
        took_s = time.monotonic() - began
        finished = FinishedRun(terms, heard.folder, round(took_s, 1), self._judged_by(column))
        self.measured.runs.add(finished)
        self.measured.finished[column, work] = finished
        self._say(f"  {heard.line}  ({duration(took_s)})")

    def _give_up(self, column: ColumnPlan, problem: HarnessError, only: Work | None = None) -> None:
        for work in column.work:
            if only in (None, work):
                self.measured.reasons[column, work] = str(problem)
        self._say(f"not measured: {column.spec}: {problem}")

    def _judge_again(self, column: ColumnPlan, work: Work) -> None:
        """A run that other rules, ledgers or another policy judged; its traces are enough, and if they are damaged it is no finished run."""
        kept = self.measured.finished.get((column, work))
        if kept is None or column not in self.measured.pairs or kept.judged_by == self._judged_by(column):
            return
        self._say(f"judging again: {column.spec}, {work.name}")
        ledgers = with_their_own(self._ledgers, self.measured.pairs[column])
        ledger, policy = load_ledger(ledgers, self._scenarios), self._policy
        try:
            judge_runs([self.measured.runs.directory(kept)], policy=policy, ledger=ledger, master=WITHOUT_SPARK)
        except TraceError as problem:
            self._say(f"  made anew: {problem}")
            del self.measured.finished[column, work]
            return
        again = replace(kept, judged_by=self._judged_by(column))
        self.measured.runs.add(again)
        self.measured.finished[column, work] = again

    def _time_left(self) -> str:
        waiting = [
            (column, work)
            for column, work in self._plan.runs()
            if (column, work) not in self.measured.finished and (column, work) not in self.measured.reasons
        ]
        return f"about {duration(sum(self._expected_s(work) for _, work in waiting))} left"

    def _expected_s(self, work: Work) -> float:
        """As long as runs of the same scenarios took, else by the length of their plans."""
        alike = [
            run.took_s
            for (_, done), run in self.measured.finished.items()
            if (done.suite, done.patterns) == (work.suite, work.patterns)
        ]
        return mean(alike) if alike else self._chosen(work)[1]

    def _request(self, column: ColumnPlan, work: Work) -> RunRequest:
        baseline, subject = self.measured.pairs[column]
        return RunRequest(
            baseline,
            subject,
            Selection(work.suite, work.patterns),
            self._backend,
            Judging(self._policy, with_their_own(self._ledgers, (baseline, subject)), WITHOUT_SPARK),
            seed=work.seed,
            is_wire_wanted=self._plan.is_wire_wanted,
            progress=self._progress,
        )

    def _require_scenarios(self, column: ColumnPlan, baseline: Subject, work: Work) -> None:
        wanted = Selection(work.suite, work.patterns)
        try:
            require_some(choose(wanted, (baseline,), self._backend), wanted)
        except UsageError as problem:
            raise at(column, problem) from problem

    def _terms(self, column: ColumnPlan, work: Work) -> Terms:
        pair = self.measured.pairs[column]
        return Terms(
            (column.baseline, column.spec), (str(pair[0]), str(pair[1])), work.suite, work.patterns, work.seed, self._plan.server,
            self._plan.cluster, self._plan.is_wire_wanted, self._plan.security is not None, _programs(pair), self._chosen(work)[0], __version__,
        )  # fmt: skip

    def _chosen(self, work: Work) -> tuple[str, float]:
        """Digest of the texts of the scenarios, and about how long a run of them takes."""
        key = (work.suite, work.patterns)
        if key not in self._digests:
            chosen = select(self._scenarios, suite=work.suite, patterns=work.patterns)
            text = "\n".join(f"{one.name}\n{one.text}" for one in sorted(chosen, key=lambda one: one.name))
            took_s = sum(one.duration_s + BESIDE_SENDS_S for one in chosen)
            self._digests[key] = (sha256(text.encode()).hexdigest()[:12], took_s)
        return self._digests[key]

    @cached_property
    def _scenarios(self) -> tuple[Scenario, ...]:
        return tuple(load_all(None))

    @property
    def _policy(self) -> Policy:
        return Policy(strict=self._plan.is_strict)

    @property
    def _ledgers(self) -> LedgerChoice:
        return LedgerChoice(self._plan.ledgers, shipped=self._plan.has_shipped_ledgers)

    def _judged_by(self, column: ColumnPlan) -> str:
        """Digest of what judges: code, ledgers and policy."""
        chosen = with_their_own(self._ledgers, self.measured.pairs[column])
        files = [*(shipped_files() if chosen.shipped else ()), *chosen.files]
        parts = [judging_digest().encode(), *(path.read_bytes() for path in files), str(self._plan.is_strict).encode()]
        return sha256(b"\n".join(parts)).hexdigest()[:12]


def _programs(pair: tuple[Subject, Subject]) -> str:
    """Digest of what is not in the ids: a user's program may be another one under the same name."""
    own = [subject.checksums() if subject.kind is None else {} for subject in pair]
    timeouts = [subject.attempt_timeout_ms for subject in pair]
    return sha256(repr((own, timeouts)).encode()).hexdigest()[:12]


class _Heard:
    """What a run says of itself that is kept: the name of its directory, and its last line."""

    def __init__(self) -> None:
        self.folder = ""
        self.line = ""

    def on_event(self, event: Event) -> None:
        """Take note of one event."""
        match event:
            case RunStarted():
                self.folder = event.folder.name
            case RunEnded():
                self.line = event.machine_line
            case _:
                return
