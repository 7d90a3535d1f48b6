"""`rocketdiff record`: all runs in one place, judged once, queried as a whole."""

import json
import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocketdiff.cli.examples import epilog
from rocketdiff.cli.options import JsonOption, MasterOption
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.text.machine_line import machine_line

if TYPE_CHECKING:
    from rocketdiff.record.work import RecordWork

record_app = typer.Typer(help="A record of all runs: add, judge, ask.", no_args_is_help=True)

RecordOption = Annotated[
    str, typer.Option("--record", help="Folder of the record, or its URL (file://, s3://, gs://, hdfs://).")
]
ConfOption = Annotated[
    list[str] | None,
    typer.Option(
        "--conf", help="Setting of Spark, spark.KEY=VALUE, such as spark.executor.memory=2g; may be repeated."
    ),
]
DEFAULT = "reports/record"


@record_app.command("add", epilog=epilog("record add"))
def record_add(
    runs: Annotated[list[str], typer.Argument(help="Run directories, or folders of such, or their URLs.")],
    record: RecordOption = DEFAULT,
    master: MasterOption = None,
    conf: ConfOption = None,
) -> None:
    """Add runs; a known one is skipped, a damaged one goes to quarantine with the reason."""
    from rocketdiff.record.commands import add, compact_many, refusal
    from rocketdiff.record.ingest import places_of
    from rocketdiff.record.storage.files import RecordPlace
    from rocketdiff.traces.remote import name_of

    folders = places_of(runs)
    place = RecordPlace.named(record)
    with working(master, len(folders), conf) as work:
        added = add(place, folders, work)
        compact_many(place, work, print_line=typer.echo)
    for damaged in added.damaged:
        typer.echo(f"quarantine: {name_of(damaged.path)}: expected {damaged.expected}; saw {damaged.seen}")
    counts = (("added", added.new), ("known", added.known), ("refused", added.other), ("quarantined", added.damaged))
    typer.echo("RECORD " + " ".join(f"{word}={len(some)}" for word, some in counts))
    if added.other:
        raise refusal(added.other)
    raise typer.Exit(int(ExitCode.INCONCLUSIVE if added.damaged else ExitCode.CONFORMS))


@record_app.command("judge", epilog=epilog("record judge"))
def record_judge(record: RecordOption = DEFAULT, master: MasterOption = None, conf: ConfOption = None) -> None:
    """Judge, check by check, what the current rules have not judged yet, and conclude the runs without a verdict."""
    from rocketdiff.record.commands import compact_many, judge, runs_to_judge
    from rocketdiff.record.storage.files import RecordPlace

    place = RecordPlace.named(record)
    with working(master, runs_to_judge(place), conf) as work:
        judged, concluded = judge(place, work, print_line=typer.echo)
        compact_many(place, work, print_line=typer.echo)
    typer.echo(machine_line("RECORD", judged=judged, concluded=concluded))


@record_app.command("status", epilog=epilog("record status"))
def record_status(record: RecordOption = DEFAULT, as_json: JsonOption = False) -> None:
    """Show what a record holds, how much of it is judged, and what is in quarantine."""
    from rocketdiff.record.commands import status
    from rocketdiff.record.storage.files import RecordPlace

    state = status(RecordPlace.named(record))
    if as_json:
        typer.echo(json.dumps(asdict(state), indent=1))
        return
    first, last = (_day(at_ms) for at_ms in (state.first_ms, state.last_ms))
    typer.echo(f"{state.runs} runs from {first} to {last}, {state.sends:,} sends planned")
    for pair, count in state.pairs:
        typer.echo(f"  {count:6} {pair.replace('~', ' against ')}")
    typer.echo(f"{state.judged} judged by the present rules, {state.concluded} with answers")
    for verdict, count in state.verdicts:
        typer.echo(f"  {count:6} {verdict}")
    for name, seen in state.quarantine:
        typer.echo(f"quarantine: {name}: {seen}")
    typer.echo(
        machine_line("RECORD", runs=state.runs, judged=state.judged, concluded=state.concluded, files=state.files)
    )


@record_app.command("compact", epilog=epilog("record compact"))
def record_compact(
    record: RecordOption = DEFAULT,
    keep_hours: Annotated[
        int,
        typer.Option("--keep-hours", min=0, help="How long unused files are kept, for commands that began before."),
    ] = 168,
    master: MasterOption = None,
    conf: ConfOption = None,
) -> None:
    """Merge many small files into few large ones, and remove what killed commands have left."""
    from rocketdiff.record.commands import compact, status
    from rocketdiff.record.storage.files import RecordPlace

    place = RecordPlace.named(record)
    before = status(place)
    with working(master, before.runs, conf) as work:
        gathered = compact(place, work, keep_hours=keep_hours, print_line=typer.echo)
    typer.echo(machine_line("RECORD", gathered=gathered, files=status(place).files, before=before.files))


@record_app.command("check", epilog=epilog("record check"))
def record_check(record: RecordOption = DEFAULT, master: MasterOption = None, conf: ConfOption = None) -> None:
    """Read every byte back and report what is wrong; exit code 4 if anything is."""
    from rocketdiff.record.commands import check, unfinished
    from rocketdiff.record.storage.files import RecordPlace
    from rocketdiff.record.storage.store import look

    place = RecordPlace.named(record)
    runs = look(place).runs
    with working(master, runs, conf) as work:
        wrong = check(place, work)
    for sentence in wrong:
        typer.echo(sentence)
    left, older = (0, 0) if wrong else unfinished(place)
    if older:
        typer.echo(
            f"{older} batches are of a release that kept no digests of files: rows were compared, not every byte; record compact adds digests"
        )
    if left:
        typer.echo(
            f"{left} batches are not committed: their commands were killed, or are still running; record compact removes them"
        )
    typer.echo(machine_line("RECORD", runs=runs, wrong=len(wrong), **{"left-behind": left}))
    raise typer.Exit(int(ExitCode.USAGE if wrong else ExitCode.CONFORMS))


OverOption = Annotated[
    str, typer.Option("--over", help="Order of the runs: time (same two subjects), or releases (same two clients).")
]


@record_app.command("regressions", epilog=epilog("record regressions"))
def record_regressions(
    record: RecordOption = DEFAULT,
    over: OverOption = "time",
    since: Annotated[str | None, typer.Option(help="Only changes since this day (2026-11-01) or this run.")] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on", help="Exit code 1 if there is a new, gone or changed-in-rate one that no ledger declares."
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Signatures that have not changed, too.")] = False,
    as_json: JsonOption = False,
    master: MasterOption = None,
    conf: ConfOption = None,
) -> None:
    """Which divergences are new, gone, or more or less frequent, since which run and between which releases?"""
    from rocketdiff.record import questions
    from rocketdiff.record.storage.files import RecordPlace

    wanted = questions.states_of(fail_on or [])
    questions.require_order(over)
    found = questions.regressions(
        RecordPlace.named(record), (master, conf or ()), over=over, since=since, everything=everything
    )
    if as_json:
        typer.echo(json.dumps(found.rows, indent=1, default=str))
    else:
        for line in questions.lines_of(found):
            typer.echo(line)
    raise typer.Exit(int(questions.code_of(found, wanted)))


@record_app.command("history", epilog=epilog("record history"))
def record_history(
    record: RecordOption = DEFAULT,
    over: OverOption = "time",
    as_json: JsonOption = False,
    master: MasterOption = None,
    conf: ConfOption = None,
) -> None:
    """How often was each signature seen, week by week, and in how many of the runs that checked for it?"""
    from rocketdiff.record import questions
    from rocketdiff.record.storage.files import RecordPlace

    questions.require_order(over)
    rows = questions.history(RecordPlace.named(record), (master, conf or ()), over=over)
    if as_json:
        typer.echo(json.dumps(rows, indent=1, default=str))
        return
    for row in rows:
        share = f"{row['runs']} of {row['asked']} runs ({row['rate']:.0%}, {row['low']:.0%} to {row['high']:.0%})"
        typer.echo(f"{row['week']} {row['line']} {row['scenario']} {row['check']} {row['signature']}: {share}")


@record_app.command("groups", epilog=epilog("record groups"))
def record_groups(
    record: RecordOption = DEFAULT,
    over: OverOption = "releases",
    as_json: JsonOption = False,
    master: MasterOption = None,
    conf: ConfOption = None,
) -> None:
    """Of groups of consumers, by release: messages given again, time without an owner, silence and backlog after a fault."""
    from rocketdiff.record import questions
    from rocketdiff.record.storage.files import RecordPlace

    questions.require_order(over)
    rows = questions.groups(RecordPlace.named(record), (master, conf or ()), over=over)
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        typer.echo(questions.group_line(row))
    typer.echo(machine_line("RECORD", rows=len(rows), groups=sum(row["groups"] for row in rows)))


@record_app.command("page", epilog=epilog("record page"))
def record_page(
    record: RecordOption = DEFAULT,
    out: Annotated[Path, typer.Option(help="The page; its document is written beside it, as JSON.")] = Path(
        "reports/record.html"
    ),
    runs: Annotated[
        list[Path] | None, typer.Option("--runs", help="Folder with runs whose reports are linked; may be repeated.")
    ] = None,
    only: Annotated[
        list[Path] | None,
        typer.Option("--only", help="Restrict the page to the runs in this folder, as of a campaign; may be repeated."),
    ] = None,
    title: Annotated[str, typer.Option(help="What the page is called.")] = "The record of all runs",
    master: MasterOption = None,
    conf: ConfOption = None,
) -> None:
    """Write one offline page: what is new, gone or changed, how often each signature was seen, and all runs, with filters."""
    from rocketdiff.core.files import require_folder, require_nameable
    from rocketdiff.record.page.command import make
    from rocketdiff.record.storage.files import RecordPlace

    require_nameable(out, "--out")
    require_folder(out.parent, "--out")
    place = RecordPlace.named(record)
    words = [
        *(["--record", record] if record != DEFAULT else []),
        *(word for folder in only or () for word in ("--only", str(folder))),
    ]
    command = shlex.join(["rocketdiff", "record", "page", *words, "--out", str(out)])
    document = make(
        place, (master, conf or ()), out=out, runs=runs or (), only=only or (), title=title, command=command
    )
    typer.echo(f"html: {out}")
    typer.echo(
        machine_line(
            "RECORD",
            runs=document.total,
            judged=document.answered,
            changes=len(document.changes),
            shown=len(document.runs),
        )
    )


@record_app.command("rules-changed", epilog=epilog("record rules-changed"))
def record_rules_changed(
    checks: Annotated[
        list[str] | None, typer.Argument(help="Checks; all that were judged by two rules when none is named.")
    ] = None,
    record: RecordOption = DEFAULT,
    as_json: JsonOption = False,
    master: MasterOption = None,
    conf: ConfOption = None,
) -> None:
    """Which divergences does a check's latest rule find in the same runs that the previous rule did not, and vice versa?"""
    from rocketdiff.record import questions
    from rocketdiff.record.storage.files import RecordPlace

    rows = questions.rules_changed(RecordPlace.named(record), (master, conf or ()), checks or [])
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        count = f"{row['count_before']} before, {row['count_after']} now; as in case {row['example_case']} of run {row['example_run']}"
        typer.echo(f"{row['state']}: {row['check']} {row['signature']} in {row['cases']} cases: {count}")
    counted = Counter(row["state"] for row in rows)
    typer.echo("RECORD " + " ".join(f"{state}={counted[state]}" for state in ("new", "gone", "more", "fewer", "same")))


def _day(at_ms: int | None) -> str:
    return "-" if at_ms is None else datetime.fromtimestamp(at_ms / 1_000, UTC).date().isoformat()


@contextmanager
def working(master: str | None, runs: int, conf: list[str] | None) -> "Iterator[RecordWork]":
    """Work on the given master. Without one, Spark is used only for enough runs to repay its start."""
    from rocketdiff.core.spark_master import require_master
    from rocketdiff.record.work import master_for, work_on

    require_master(master)
    with work_on(master_for(master, runs), conf or (), runs=runs) as work:
        yield work
