"""Commands on a record. Each reads a snapshot, works and commits, and starts again if another command committed in between."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rocketdiff.core.errors import EnvironmentMissing, TraceError, UsageError
from rocketdiff.record.conclude import Concluding, concluding
from rocketdiff.record.freshness import concluded, judgements
from rocketdiff.record.ingest import FoundRun, quarantined
from rocketdiff.record.rules import rules_now
from rocketdiff.record.storage.batch import new_batch
from rocketdiff.record.storage.compact import left_behind, most_alike, plans, rewrite, tidy
from rocketdiff.record.storage.files import RecordPlace, texts
from rocketdiff.record.storage.missing import unlisted
from rocketdiff.record.storage.store import (
    OthersWereFaster,
    Snapshot,
    commit,
    gather_batches,
    look,
    look_or_make,
)
from rocketdiff.record.storage.tables import Kept
from rocketdiff.record.work import Here, RecordWork
from rocketdiff.traces.remote import name_of

PrintLine = Callable[[str], None]

MOST_TRIES = 20
"""Limit of attempts to commit; in each failed one another command has made progress."""

MOST_ALIKE = 100
"""Batches of one kind; each has a file in every table, and every question opens them all."""

KEEP_HOURS = 168
"""How long files that were replaced are kept, for commands that began before."""

RUNS_A_BATCH = 1_000
"""Runs judged per commit: a killed command repeats at most some minutes of two cores."""


@dataclass(frozen=True, slots=True)
class Added:
    """Result of ``add``. other: runs whose name the record already has with other content."""

    new: tuple[FoundRun, ...]
    known: tuple[FoundRun, ...]
    other: tuple[FoundRun, ...]
    damaged: tuple[FoundRun, ...]


def add(place: RecordPlace, folders: Sequence[Path | str], work: RecordWork) -> Added:
    """Add runs, named by path or URL, to a record; create the record if there is none, and skip runs that are already there."""
    found = work.identify(list(map(str, folders)))
    for _ in range(MOST_TRIES):
        try:
            return _add(look_or_make(place), found, work)
        except OthersWereFaster:
            continue
    raise busy(place)


def _add(snapshot: Snapshot, found: Sequence[FoundRun], work: RecordWork) -> Added:
    has = dict(_digests(snapshot))
    new: dict[str, FoundRun] = {}
    known: list[FoundRun] = []
    other: list[FoundRun] = []
    for run in (folder for folder in found if folder.is_run):
        if run.run not in has:
            has[run.run] = run.digest
            new[run.run] = run
        else:
            (known if has[run.run] == run.digest else other).append(run)
    batch = replace(new_batch("add"), runs=len(new))
    files, spoilt = work.ingest(snapshot.place, batch.batch, list(new.values())) if new else ([], [])
    damaged = [*(folder for folder in found if not folder.is_run), *spoilt]
    unseen = _not_in_quarantine(snapshot, damaged)
    if unseen:
        files = [*files, *quarantined(snapshot.place, batch, unseen)]
    if files:
        commit(snapshot, replace(batch, runs=len(new) - len(spoilt)), files)
    lost = {lost_run.path for lost_run in spoilt}
    return Added(tuple(run for run in new.values() if run.path not in lost), tuple(known), tuple(other), tuple(damaged))


def _digests(snapshot: Snapshot) -> list[tuple[str, str]]:
    rows = snapshot.rows(Kept.RUNS, ["run", "digest"], snapshot.of("add"))
    return list(zip(texts(rows, "run"), texts(rows, "digest"), strict=True))


def _not_in_quarantine(snapshot: Snapshot, damaged: Sequence[FoundRun]) -> list[FoundRun]:
    rows = snapshot.rows(Kept.QUARANTINE, ["place", "seen"], snapshot.of("add")).to_pylist()
    there = {(row["place"], row["seen"]) for row in rows}
    return [folder for folder in damaged if (name_of(folder.path), folder.seen) not in there]


RUNS_CONCLUDED_A_BATCH = 10_000
"""Also some minutes; larger, because each batch scans all runs and facts."""


def judge(
    place: RecordPlace,
    work: RecordWork,
    *,
    how: Concluding | None = None,
    print_line: PrintLine,
    runs_a_batch: int = RUNS_A_BATCH,
    concluded_a_batch: int = RUNS_CONCLUDED_A_BATCH,
) -> tuple[int, int]:
    """
    Judge what lacks a judgement by the current rules, then conclude what lacks answers; one commit per batch of runs.

    Returns the numbers of runs judged and concluded. A killed command can be repeated, because each batch looks for missing
    work.
    """
    how = how or concluding()
    rules = rules_now()
    judged = concluded_runs = 0
    while step := _judge_step(place, work, rules, runs_a_batch):
        checks, runs, left = step
        judged += runs
        what = "all checks" if checks == frozenset(rules) else ", ".join(sorted(checks))
        print_line(f"judged {what} of {runs} runs")
        if not left:
            break
    while runs := _conclude_step(place, work, rules, how, concluded_a_batch):
        concluded_runs += runs
        print_line(f"concluded {runs} runs")
        if runs < concluded_a_batch:
            break
    return judged, concluded_runs


def _judge_step(
    place: RecordPlace, work: RecordWork, rules: dict[str, str], most: int
) -> tuple[frozenset[str], int, int] | None:
    """
    Judge one batch of the largest set of runs that lack the same checks.

    Returns these checks, the number of runs judged, and of runs that still lack a check; None if none does.
    """
    for _ in range(MOST_TRIES):
        snapshot = look(place)
        missing = work.missing(snapshot, rules)
        if not missing:
            return None
        checks = max(missing, key=lambda one: (missing[one], sorted(one)))
        batch = replace(new_batch("judge"), rules=dict(rules), checks=tuple(sorted(checks)))
        files, runs = work.judge(snapshot, batch.batch, rules, checks, most)
        try:
            commit(snapshot, replace(batch, runs=runs), files)
        except OthersWereFaster:
            continue
        return checks, runs, sum(missing.values()) - runs
    raise busy(place)


def _conclude_step(place: RecordPlace, work: RecordWork, rules: dict[str, str], how: Concluding, most: int) -> int:
    for _ in range(MOST_TRIES):
        snapshot = look(place)
        batch = replace(new_batch("conclude"), rules=dict(rules), scope=how.scope)
        files, runs = work.conclude(snapshot, batch.batch, rules, how, most)
        if not runs:
            return 0
        try:
            commit(snapshot, replace(batch, runs=runs), files)
        except OthersWereFaster:
            continue
        return runs
    raise busy(place)


def compact(place: RecordPlace, work: RecordWork, *, keep_hours: int, print_line: PrintLine) -> int:
    """
    Merge small files, and delete files that were replaced or left behind ``keep_hours`` ago.

    Returns the number of merged batches. Raises TraceError if anything is wrong with the record, and deletes nothing then.
    """
    _require_whole(check(place, work))
    gathered = 0
    while step := _compact_step(place, work):
        gathered += step
        print_line(f"gathered {step} batches into one")
    gather_batches(place)
    snapshot = look(place)
    _require_whole(_damages(snapshot, work))
    if removed := tidy(snapshot, keep_hours):
        print_line(f"removed {removed} files that have not been needed for {keep_hours} hours")
    return gathered


def compact_many(place: RecordPlace, work: RecordWork, *, print_line: PrintLine, most: int = MOST_ALIKE) -> int:
    """
    Compact a record in which one kind of command has more than ``most`` batches; return the number of merged ones.

    A record that is not whole is left as it is, and the reason printed.
    """
    if most_alike(look(place)) <= most:
        return 0
    try:
        return compact(place, work, keep_hours=KEEP_HOURS, print_line=print_line)
    except TraceError as error:
        print_line(f"not compacted: {error}")
        return 0


def _require_whole(wrong: Sequence[str]) -> None:
    if wrong:
        raise TraceError(
            "a record that rocketdiff record check finds whole, before files are merged or deleted",
            seen=wrong[0] + (f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""),
            hint="rocketdiff record check",
        )


def _compact_step(place: RecordPlace, work: RecordWork) -> int:
    for _ in range(MOST_TRIES):
        snapshot = look(place)
        plan = next(iter(plans(snapshot)), None)
        if plan is None:
            return 0
        like, fresh = plan.like, new_batch("")
        kind = f"compact-{like.kind.removeprefix('compact-')}"
        batch = replace(like, batch=fresh.batch, kind=kind, at_ms=fresh.at_ms, runs=plan.runs, replaces=plan.replaces)
        files = work.write(plan.jobs, partial(rewrite, place, batch.batch))
        try:
            commit(snapshot, batch, files)
        except OthersWereFaster:
            continue
        return len(plan.replaces)
    raise busy(place)


def check(place: RecordPlace, work: RecordWork) -> list[str]:
    """Read everything back; return what is wrong with the record, one sentence each."""
    snapshot = look(place)
    if damages := _damages(snapshot, work):
        return damages
    runs = Counter(texts(snapshot.rows(Kept.RUNS, ["run"], snapshot.of("add")), "run"))
    wrong = [f"run {run} is stored {times} times" for run, times in sorted(runs.items()) if times > 1]
    for checks, batches in judgements(snapshot, rules_now()).items():
        rows = snapshot.rows(Kept.JUDGED, ["run", "case"], batches)
        pairs = Counter(zip(texts(rows, "run"), texts(rows, "case"), strict=True))
        what = f"judged {{}} times in {', '.join(sorted(checks))}"
        wrong += [f"case {case} of run {run} was {what.format(n)}" for (run, case), n in sorted(pairs.items()) if n > 1]
    return wrong + work.check(snapshot)


def _damages(snapshot: Snapshot, work: RecordWork) -> list[str]:
    tables = (table for table in Kept if table is not Kept.BATCHES)
    try:
        files = [file for table in tables for file in snapshot.files(table)]
    except TraceError:  # a batch of an older release, whose files only the log names
        return unlisted(snapshot)
    return [*unlisted(snapshot), *work.check_files(snapshot.place, files)]


def unfinished(place: RecordPlace) -> tuple[int, int]:
    """Return how many batches have no commit, and how many are of releases that stated no digests of files."""
    snapshot = look(place)
    return len(left_behind(snapshot)), sum(batch.files is None for batch in snapshot.visible)


@dataclass(frozen=True, slots=True)
class Status:
    """Contents of a record. judged: runs by the current rules; concluded: runs with answers that hold; verdicts: by word."""

    runs: int
    sends: int
    first_ms: int | None
    last_ms: int | None
    pairs: tuple[tuple[str, int], ...]
    judged: int
    concluded: int
    verdicts: tuple[tuple[str, int], ...]
    quarantine: tuple[tuple[str, str], ...]
    batches: int
    files: int
    left_behind: int


def status(place: RecordPlace, how: Concluding | None = None) -> Status:
    """Return the status, reading only small columns in this process."""
    snapshot, scope = look(place), (how or concluding()).scope
    columns = ["run", "baseline", "candidate", "created_ms", "sends"]
    runs = snapshot.rows(Kept.RUNS, columns, snapshot.of("add")).to_pylist()
    verdicts = texts(snapshot.rows(Kept.VERDICTS, ["verdict"], concluded(snapshot, scope)), "verdict")
    refused = snapshot.rows(Kept.QUARANTINE, ["place", "seen"], snapshot.of("add")).to_pylist()
    times = [row["created_ms"] for row in runs]
    return Status(
        runs=len(runs),
        sends=sum(row["sends"] for row in runs),
        first_ms=min(times, default=None),
        last_ms=max(times, default=None),
        pairs=_counted(f"{row['baseline']}~{row['candidate']}" for row in runs),
        judged=_judged(snapshot),
        concluded=len(verdicts),
        verdicts=_counted(verdicts),
        quarantine=tuple(sorted((row["place"], row["seen"]) for row in refused)),
        batches=len(snapshot.visible),
        files=sum(len(snapshot.paths(table)) for table in Kept if table is not Kept.BATCHES),
        left_behind=len(left_behind(snapshot)),
    )


def _judged(snapshot: Snapshot) -> int:
    rules = rules_now()
    has: dict[str, frozenset[str]] = {}
    for checks, batches in judgements(snapshot, rules).items():
        for run in snapshot.rows(Kept.JUDGED, ["run"], batches).column("run").unique().to_pylist():
            has[str(run)] = has.get(str(run), frozenset()) | checks
    return sum(checks >= frozenset(rules) for checks in has.values())


def _counted(words: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(words).items()))


def runs_to_judge(place: RecordPlace) -> int:
    """Return how many runs lack a judgement by the current rules, or an answer; UsageError if there is no record."""
    snapshot = look(place)
    answered = snapshot.rows(Kept.VERDICTS, ["run"], concluded(snapshot, concluding().scope)).num_rows
    return max(sum(Here().missing(snapshot, rules_now()).values()), snapshot.runs - answered)


def refusal(other: Sequence[FoundRun]) -> UsageError:
    """Return the error for runs that the record has with other content."""
    names = ", ".join(run.run for run in other[:3]) + (f" and {len(other) - 3} more" if len(other) > 3 else "")
    return UsageError(
        "each run once, with one content",
        seen=f"other content than the record has under the name {names}",
        hint="a run is never replaced: leave out the changed copy, or make another record with --record",
    )


def busy(place: RecordPlace) -> EnvironmentMissing:
    """Return the error for a command that lost ``MOST_TRIES`` races for a commit."""
    return EnvironmentMissing(
        "a record that few commands write to at once",
        seen=f"other commands committed first {MOST_TRIES} times at {place.url}",
        hint="repeat the command",
    )
