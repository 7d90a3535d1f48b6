"""
Measures whether the gate finds known divergences, by repeating every divergence that the shipped ledgers declare.

One case can show several entries. The two releases come from the command in an entry's evidence.
"""

import shlex
import shutil
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from rocketdiff.calibration.controls import CalibrationRequest, PrintLine, clusters_of, line_now
from rocketdiff.calibration.journal import CalibrationJournal
from rocketdiff.core.answers.verdict import CheckResult
from rocketdiff.core.errors import EnvironmentMissing, HarnessError, UsageError
from rocketdiff.core.run_info import RunInfo
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.fault import fault_counts
from rocketdiff.core.text.glob import path_glob
from rocketdiff.judging.ledgers import LedgerChoice
from rocketdiff.judging.ledgers import load as load_ledger
from rocketdiff.judging.run_info import describe
from rocketdiff.ledger.apply import DECISIVE_VERDICTS
from rocketdiff.ledger.matching import declares, meets, subjects_of
from rocketdiff.ledger.model import Entry
from rocketdiff.run.case_session import CaseSession
from rocketdiff.run.cluster_pool import ClusterPool
from rocketdiff.run.execute import fetch
from rocketdiff.run.many import FAILURES_IN_A_ROW, is_hopeless
from rocketdiff.run.request import WITHOUT_LEDGERS, RunRequest
from rocketdiff.scenario import Scenario, expand, load_all
from rocketdiff.scenario.checks_asked import REPORTED_UNPLANNED, checks_planned
from rocketdiff.subjects.registry import published
from rocketdiff.verdict.gate_rate_tally import KnownOutcome


@dataclass(frozen=True, slots=True)
class ExpectedEntry:
    """One ledger entry and the check that should show it."""

    entry: Entry
    check: str


@dataclass(frozen=True, slots=True)
class KnownCase:
    """One scenario with one pair of clients, and all entries it can show."""

    scenario: Scenario
    baseline: SubjectId
    candidate: SubjectId
    known: tuple[ExpectedEntry, ...]

    @property
    def name(self) -> str:
        return f"{self.scenario.name}/{self.baseline}~{self.candidate}"


def known_cases() -> tuple[KnownCase, ...]:
    """
    Every shipped entry with the shortest scenario it covers. UsageError for an entry that no scenario can show.

    Entries about whole runs (``pooled/…``) are left out: one case has too few episodes for those checks.
    """
    scenarios = load_all()
    cases: defaultdict[tuple[SubjectId, SubjectId, str], list[ExpectedEntry]] = defaultdict(list)
    for entry in load_ledger(LedgerChoice()).entries:
        if entry.check.startswith("pooled/"):
            continue
        scenario, check = _shortest(entry, scenarios)
        cases[(*pair_of_entry(entry), scenario.name)].append(ExpectedEntry(entry, check))
    by_name = {scenario.name: scenario for scenario in scenarios}
    return tuple(
        KnownCase(by_name[name], baseline, candidate, tuple(known))
        for (baseline, candidate, name), known in sorted(cases.items(), key=lambda item: by_name[item[0][2]].topology)
    )


def pair_of_entry(entry: Entry) -> tuple[SubjectId, SubjectId]:
    """Baseline and candidate of an entry, from the command in its evidence."""
    words = shlex.split(entry.evidence.reproduce) if entry.evidence else []
    found = [subject for word in words if (subject := _subject(word)) is not None]
    if len(found) != 2:
        raise UsageError(
            f"a command with two subjects as evidence of {entry.id} ({entry.place})",
            seen=entry.evidence.reproduce if entry.evidence else "no evidence",
        )
    return found[0], found[1]


def _subject(word: str) -> SubjectId | None:
    try:
        return SubjectId.parse(word)
    except UsageError:
        return None


def _shortest(entry: Entry, scenarios: Sequence[Scenario]) -> tuple[Scenario, str]:
    """The shortest scenario that an entry covers, with the covered check: planned, or else reported without being planned."""
    glob = path_glob(entry.check)
    shown = [
        (scenario, check)
        for scenario in scenarios
        for check in dict.fromkeys((*checks_planned(scenario), *REPORTED_UNPLANNED))
        if glob.fullmatch(f"{scenario.name}/{check}")
        and meets(
            entry.when,
            settings=asdict(scenario.settings),
            fault_counts=fault_counts(scenario.faults),
            group=scenario.group_figures,
        )
    ]
    if not shown:
        raise UsageError(f"a scenario that can show {entry.id}", seen="none", hint="rocketdiff ledger lint")
    return min(shown, key=lambda pair: (pair[1] not in checks_planned(pair[0]), pair[0].duration_s))


def run_known(request: CalibrationRequest, journal: CalibrationJournal, repeats: int, print_line: PrintLine) -> None:
    """
    Run every known case ``repeats`` times, less those in the journal, each with another seed.

    Raises HarnessError after several in a row that broke off.
    """
    broke_off: list[bool] = []
    done: defaultdict[str, int] = defaultdict(int)
    for line in journal.lines:
        done[line.known_case] += 1
    with clusters_of(request, journal.folder) as clusters:
        for repeat in range(repeats):
            for case in known_cases():
                if done[case.name] <= repeat:
                    broke_off.append(_broke_off(request, journal, clusters, case, repeat, print_line))
                    _require_working(broke_off, case)


def _require_working(broke_off: Sequence[bool], last: KnownCase) -> None:
    if is_hopeless(broke_off):
        seen = f"{FAILURES_IN_A_ROW} in a row that broke off, the last {last.name}"
        raise HarnessError("known cases to come to their end", seen=seen)


def _broke_off(
    request: CalibrationRequest,
    journal: CalibrationJournal,
    clusters: ClusterPool,
    known: KnownCase,
    repeat: int,
    print_line: PrintLine,
) -> bool:
    """
    Repeat a known case; True if it broke off.

    The run directory is kept on request, and if a divergence was missed or nothing was decided.
    """
    began, seed = time.monotonic(), request.seed + 1_000 + repeat
    wanted = RunRequest(
        published(known.baseline),
        published(known.candidate),
        backend=request.servers,
        judging=WITHOUT_LEDGERS,
        seed=seed,
    )
    case = expand(known.scenario, known.baseline, known.candidate, seed, wanted.attempt_timeout_ms)
    session = CaseSession.begin(fetch(wanted), clusters, journal.folder / "known", [case])
    directory = session.directory
    broke_off = False
    try:
        results = session.run(1, case).results
    except EnvironmentMissing:
        raise
    except HarnessError as error:
        print_line(f"{known.name}: broke off: {error}")
        results, broke_off = (), True
    session.end()
    outcomes = tuple(looked_for(known, results, describe([directory], took_s=0.0)))
    took_s = time.monotonic() - began
    line = line_now(took_s, directory.path.relative_to(journal.folder))
    journal.add(replace(line, known=outcomes, known_case=known.name))
    if not request.keep and all(outcome.seen for outcome in outcomes):
        shutil.rmtree(directory.path, ignore_errors=True)
    words = {True: "seen", False: "MISSED", None: "not decided"}
    print_line(
        f"{known.name}: "
        + ", ".join(f"{outcome.entry} {words[outcome.seen]}" for outcome in outcomes)
        + f"  {took_s:.1f} s"
    )
    return broke_off


def looked_for(known: KnownCase, results: Sequence[CheckResult], run: RunInfo) -> Iterable[KnownOutcome]:
    """Whether each entry's divergence was found; None if its check was not decided."""
    by_check = {result.check: result for result in results}
    for declared in known.known:
        result = by_check.get(declared.check)
        seen = None
        if result is not None and result.verdict in DECISIVE_VERDICTS:
            subjects = subjects_of(declared.entry, run)
            seen = any(declares(declared.entry, divergence, subjects) for divergence in result.divergences)
        path = f"{known.scenario.name}/{declared.check}"
        yield KnownOutcome(declared.entry.id, str(known.baseline), str(known.candidate), path, seen)
