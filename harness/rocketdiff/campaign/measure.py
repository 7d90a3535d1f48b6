"""
Makes the missing runs of a plan, one after another, each completely or not at all.

An unavailable subject or a failing run is reported and does not stop the others.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from statistics import mean

from rich.console import Console

from rocketdiff import __version__
from rocketdiff.campaign.file_format import at
from rocketdiff.campaign.finished_runs import FinishedRun, FinishedRuns, Terms
from rocketdiff.campaign.plan import CampaignEntry, CampaignPlan, PlannedRun, RunSetting
from rocketdiff.cluster.start import backend_named
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.errors import EnvironmentMissing, HarnessError, TraceError, UsageError
from rocketdiff.core.events import Event, Listener, RunEnded, RunStarted
from rocketdiff.core.files import regular_bytes
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.judging.judge_runs import judge_runs
from rocketdiff.judging.judging_code import judging_digest
from rocketdiff.judging.ledgers import LedgerChoice, shipped_files
from rocketdiff.judging.ledgers import load as load_ledger
from rocketdiff.releases.progress import PlainProgress, ProgressListener
from rocketdiff.report.terminal import TerminalListener
from rocketdiff.report.words.signs import duration
from rocketdiff.run.execute import execute
from rocketdiff.run.many import is_hopeless
from rocketdiff.run.request import Judging, RunRequest, Selection, pair_of, with_their_own
from rocketdiff.run.selection import choose, require_pair, require_some
from rocketdiff.scenario import Scenario, load_all, select
from rocketdiff.subjects.subject import Subject

PrintLine = Callable[[str], None]

BESIDE_SENDS_S = 5.0
"""
Time of a case besides its sends: warm-up, healing, read-back, and its share of cluster start and judging.

The quick suite: 7 cases with 54 s of sends.
"""


@dataclass(slots=True)
class CampaignState:
    """
    The state of a plan: finished runs by entry and work, and why others are missing.

    pairs: baseline and subject of each entry that could be resolved.
    """

    plan: CampaignPlan
    runs: FinishedRuns
    finished: dict[tuple[CampaignEntry, PlannedRun], FinishedRun] = field(default_factory=dict)
    reasons: dict[tuple[CampaignEntry, PlannedRun], str] = field(default_factory=dict)
    pairs: dict[CampaignEntry, tuple[Subject, Subject]] = field(default_factory=dict)

    def why_missing(self, entry: CampaignEntry, work: PlannedRun) -> str:
        return self.reasons.get((entry, work), "not run yet")


def find_finished(plan: CampaignPlan, out: Path) -> CampaignState:
    """Existing runs, identified by what was typed: nothing is resolved, started or judged."""
    state = CampaignState(plan, FinishedRuns(out / "runs"))
    for run in state.runs.all():
        asked = run.terms
        for entry, work in plan.runs():
            there = state.finished.get((entry, work))
            is_newer = there is None or there.run < run.run  # the last of several
            if is_newer and _as_typed(asked) == _as_planned(entry, work):
                state.finished[entry, work] = run
    return state


def describe(state: CampaignState) -> Iterator[str]:
    """Each live run of a plan, and whether it exists."""
    for entry, work in state.plan.runs():
        run = state.finished.get((entry, work))
        found = "missing" if run is None else f"there, {run.run}"
        yield f"{entry.spec} against {entry.baseline}, {work.name}: {found}"


def _as_typed(terms: Terms) -> tuple[object, ...]:
    setting = (terms.server, terms.cluster, terms.is_wire_wanted, terms.is_secured)
    return (terms.specs, terms.suite, terms.patterns, terms.seed, setting)


def _as_planned(entry: CampaignEntry, work: PlannedRun) -> tuple[object, ...]:
    on = work.setting
    setting = (on.server, on.cluster, on.is_wire_wanted, on.security is not None)
    return ((entry.baseline, entry.spec), work.suite, work.patterns, work.seed, setting)


def run_missing(
    plan: CampaignPlan,
    out: Path,
    print_line: PrintLine,
    *,
    on_change: Callable[[CampaignState], object],
    at_most: int | None = None,
) -> CampaignState:
    """Make missing runs, with progress on a terminal. on_change: called after every run and on an error."""
    with closing(TerminalListener(Console(stderr=True, emoji=False))) as shown:
        runner = CampaignRunner(
            plan, out, print_line, listeners=(shown,), progress=PlainProgress(), on_change=on_change
        )
        runner.prepare()
        try:
            return runner.run(at_most)
        except BaseException:
            on_change(runner.state)
            raise


class CampaignRunner:
    """Makes the runs of a plan below ``out``. on_change: called after every run."""

    def __init__(
        self,
        plan: CampaignPlan,
        out: Path,
        print_line: PrintLine,
        *,
        listeners: Sequence[Listener] = (),
        progress: ProgressListener | None = None,
        on_change: Callable[[CampaignState], object] = lambda _: None,
    ) -> None:
        self._plan = plan
        self._print_line = print_line
        self._listeners = tuple(listeners)
        self._progress = progress
        self._on_change = on_change
        settings = dict.fromkeys(work.setting for _, work in plan.runs())
        self._backends = {
            setting: backend_named(setting.cluster, setting.server, setting.security) for setting in settings
        }
        self._digests: dict[tuple[str | None, tuple[str, ...]], tuple[str, float]] = {}
        self._failed: list[bool] = []
        self.state = CampaignState(plan, FinishedRuns(out / "runs"))

    def prepare(self) -> None:
        """
        Check everything possible, and resolve every subject once. UsageError names the file's line.

        A subject that is unavailable on this machine (EnvironmentMissing) gets no new runs.
        """
        load_ledger(self._ledgers, self._scenarios)
        for entry in self._plan.entries:
            try:
                pair = pair_of([entry.baseline, entry.spec])
                require_pair(*pair)
                self.state.pairs[entry] = pair
            except EnvironmentMissing as problem:
                self._give_up(entry, problem)
                continue
            except UsageError as problem:
                raise at(entry, problem) from problem
            for work in entry.work:
                self._require_scenarios(entry, pair[0], work)
        there = find_finished(self._plan, self.state.runs.folder.parent).finished
        for entry, work in self._plan.runs():
            is_here = entry in self.state.pairs
            # A subject that cannot be resolved is identified by what was typed: its earlier runs are still valid.
            kept = self.state.runs.find(self._terms(entry, work)) if is_here else there.get((entry, work))
            if kept is not None:
                self.state.finished[entry, work] = kept
                self.state.reasons.pop((entry, work), None)

    def run(self, at_most: int | None = None) -> CampaignState:
        """Make the missing runs, or only the first ``at_most``. Raises HarnessError when several in a row fail."""
        planned = list(self._plan.runs())
        if len(self.state.finished) < len(planned):
            missing = {work.setting for entry, work in planned if (entry, work) not in self.state.finished}
            self._backends |= {setting: self._backends[setting].fetch(self._progress) for setting in missing}
        if self.state.finished:
            self._print_line(
                f"{len(self.state.finished)} of {len(planned)} runs are taken over from {self.state.runs.folder}"
            )
        begun = 0
        for number, (entry, work) in enumerate(planned, start=1):
            self._judge_again(entry, work)
            if (entry, work) in self.state.finished:
                continue
            if (entry, work) not in self.state.reasons and (at_most is None or begun < at_most):
                begun += 1
                self._print_line(f"run {number} of {len(planned)}: {entry.spec}, {work.name}; {self._time_left()}")
                self._make(entry, work)
                self._on_change(self.state)
        return self.state

    def _make(self, entry: CampaignEntry, work: PlannedRun) -> None:
        terms, began, heard = self._terms(entry, work), time.monotonic(), _Heard()
        request = replace(self._request(entry, work), out=self.state.runs.clear(terms))
        try:
            execute(request, (*self._listeners, heard))
        except HarnessError as problem:
            if not heard.folder and isinstance(problem, EnvironmentMissing | UsageError):
                self._give_up(entry, problem, work if isinstance(problem, UsageError) else None)
                return
            self.state.reasons[entry, work] = f"the run failed: {problem}"
            self._print_line(f"  failed: {problem}")
            self._failed.append(True)
            if is_hopeless(self._failed):
                raise
            return
        self._failed.append(False)
        took_s = time.monotonic() - began
        finished = FinishedRun(terms, heard.folder, round(took_s, 1), self._judged_by(entry))
        self.state.runs.add(finished)
        self.state.finished[entry, work] = finished
        self._print_line(f"  {heard.line}  ({duration(took_s)})")

    def _give_up(self, entry: CampaignEntry, problem: HarnessError, only: PlannedRun | None = None) -> None:
        for work in entry.work:
            if only in (None, work):
                self.state.reasons[entry, work] = str(problem)
        self._print_line(f"not measured: {entry.spec}: {problem}")

    def _judge_again(self, entry: CampaignEntry, work: PlannedRun) -> None:
        """Judge a run again if rules, ledgers or policy changed. If its traces are damaged, it no longer counts as finished."""
        kept = self.state.finished.get((entry, work))
        if kept is None or entry not in self.state.pairs or kept.judged_by == self._judged_by(entry):
            return
        self._print_line(f"judging again: {entry.spec}, {work.name}")
        ledgers = with_their_own(self._ledgers, self.state.pairs[entry])
        ledger, policy = load_ledger(ledgers, self._scenarios), self._policy
        try:
            judge_runs([self.state.runs.directory(kept)], policy=policy, ledger=ledger, master=WITHOUT_SPARK)
        except TraceError as problem:
            self._print_line(f"  made anew: {problem}")
            del self.state.finished[entry, work]
            return
        again = replace(kept, judged_by=self._judged_by(entry))
        self.state.runs.add(again)
        self.state.finished[entry, work] = again

    def _time_left(self) -> str:
        waiting = [
            (entry, work)
            for entry, work in self._plan.runs()
            if (entry, work) not in self.state.finished and (entry, work) not in self.state.reasons
        ]
        return f"about {duration(sum(self._expected_s(work) for _, work in waiting))} left"

    def _expected_s(self, work: PlannedRun) -> float:
        """Mean duration of runs of the same scenarios, else an estimate from their plans."""
        alike = [
            run.took_s
            for (_, done), run in self.state.finished.items()
            if (done.suite, done.patterns) == (work.suite, work.patterns)
        ]
        return mean(alike) if alike else self._chosen(work)[1]

    def _request(self, entry: CampaignEntry, work: PlannedRun) -> RunRequest:
        baseline, subject = self.state.pairs[entry]
        return RunRequest(
            baseline,
            subject,
            Selection(work.suite, work.patterns),
            self._backends[work.setting],
            Judging(self._policy, with_their_own(self._ledgers, (baseline, subject)), WITHOUT_SPARK),
            seed=work.seed,
            is_wire_wanted=work.setting.is_wire_wanted,
            progress=self._progress,
        )

    def _require_scenarios(self, entry: CampaignEntry, baseline: Subject, work: PlannedRun) -> None:
        wanted = Selection(work.suite, work.patterns)
        try:
            require_some(choose(wanted, (baseline,), self._backends[work.setting]), wanted)
        except UsageError as problem:
            raise at(entry, problem) from problem

    def _terms(self, entry: CampaignEntry, work: PlannedRun) -> Terms:
        pair = self.state.pairs[entry]
        return Terms(
            specs=(entry.baseline, entry.spec),
            subjects=(str(pair[0]), str(pair[1])),
            suite=work.suite,
            patterns=work.patterns,
            seed=work.seed,
            server=work.setting.server,
            cluster=work.setting.cluster,
            is_wire_wanted=work.setting.is_wire_wanted,
            is_secured=work.setting.security is not None,
            programs=_programs(pair, work.setting),
            scenarios=self._chosen(work)[0],
            rocketdiff=__version__,
        )

    def _chosen(self, work: PlannedRun) -> tuple[str, float]:
        """Digest of the scenarios' texts, and the estimated duration."""
        key = (work.suite, work.patterns)
        if key not in self._digests:
            chosen = select(self._scenarios, suite=work.suite, patterns=work.patterns)
            text = "\n".join(f"{one.name}\n{one.text}" for one in sorted(chosen, key=lambda one: one.name))
            took_s = sum(scenario.duration_s + BESIDE_SENDS_S for scenario in chosen)
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

    def _judged_by(self, entry: CampaignEntry) -> str:
        """Digest of code, ledgers and policy."""
        chosen = with_their_own(self._ledgers, self.state.pairs[entry])
        files = [*(shipped_files() if chosen.shipped else ()), *chosen.files]
        parts = [
            judging_digest().encode(),
            *(regular_bytes(path) for path in files),
            str(self._plan.is_strict).encode(),
        ]
        return sha256(b"\n".join(parts)).hexdigest()[:12]


def _programs(pair: tuple[Subject, Subject], setting: RunSetting) -> str:
    """Digest of what ids do not show: a user's program or a security file may change under the same name."""
    own = [subject.checksums() if subject.kind is None else {} for subject in pair]
    timeouts = [subject.attempt_timeout_ms for subject in pair]
    security = () if setting.security is None else (str(setting.security),)
    return sha256(repr((own, timeouts, *security)).encode()).hexdigest()[:12]


class _Heard:
    def __init__(self) -> None:
        self.folder = ""
        self.line = ""

    def on_event(self, event: Event) -> None:
        match event:
            case RunStarted():
                self.folder = event.folder.name
            case RunEnded():
                self.line = event.machine_line
            case _:
                return
