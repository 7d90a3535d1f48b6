"""The command line: maps arguments to one call of a stage, and its result to an exit code. No logic of its own."""

import errno
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from typer.exceptions import TyperException

from rocketdiff import __version__
from rocketdiff.cli.commands.calibrate import calibrate
from rocketdiff.cli.commands.campaign import campaign, matrix
from rocketdiff.cli.commands.cluster import cluster_app
from rocketdiff.cli.commands.fuzz import fuzz
from rocketdiff.cli.commands.history import bisect, changelog, groups, identify, upgrade
from rocketdiff.cli.commands.inspect import doctor, scenarios_app
from rocketdiff.cli.commands.ledger import ledger_app
from rocketdiff.cli.commands.record import record_app
from rocketdiff.cli.commands.simulate import simulate
from rocketdiff.cli.commands.subject import subject_app
from rocketdiff.cli.endings import INTERRUPTED, INTERRUPTED_MESSAGE, Interruption, ended, on_signals
from rocketdiff.cli.examples import epilog
from rocketdiff.cli.option_file import options_in
from rocketdiff.cli.options import (
    FirstOption,
    InconclusiveOption,
    LedgerOption,
    MasterOption,
    NoLedgerOption,
    QuietOption,
    StrictOption,
    VerboseOption,
    for_bisect,
    takes,
)
from rocketdiff.cli.pipes import outlive_readers
from rocketdiff.core.errors import ExitCode, HarnessError, UsageError
from rocketdiff.core.tables.run_options import FOR_COMPARE, RUN_OPTIONS
from rocketdiff.core.text.quoted import printable

if TYPE_CHECKING:
    from rocketdiff.core.events import Listener
    from rocketdiff.report.formats.summary import Detail

app = typer.Typer(
    name="rocketdiff",
    help="Show, with evidence, where two RocketMQ clients behave differently.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=epilog(""),
    pretty_exceptions_enable=False,
)

ON_BROKERS = "Two clients on real brokers"
AROUND = "What a run needs"
MANY = "Many runs"
VIRTUAL = "Java releases in virtual time, without brokers"
MAINTAINERS = "For maintainers of rocketdiff"


@app.command(epilog=epilog("run"), rich_help_panel=ON_BROKERS)
@takes(*RUN_OPTIONS)
def run(quiet: QuietOption = False, verbose: VerboseOption = False, first: FirstOption = False, **given: Any) -> None:
    """Run two clients on real brokers, inject faults, and report where the clients behave differently."""
    from rocketdiff.releases.progress import PlainProgress
    from rocketdiff.run.execute import execute
    from rocketdiff.run.request import request_of

    detail = detail_of(quiet=quiet, verbose=verbose)
    if first:
        given["max_failures"] = 1
    request = replace(request_of(given), progress=PlainProgress())
    with shown_on_terminal(detail) as listeners:
        code = execute(request, listeners)
    leave(code)


@app.command(epilog=epilog("compare"), rich_help_panel=ON_BROKERS)
@takes(*FOR_COMPARE)
def compare(
    baseline: Annotated[str, typer.Argument(help="client:release that sets the standard.")],
    candidate: Annotated[str, typer.Argument(help="client:release that is measured against it.")],
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    **given: Any,
) -> None:
    """What changes if we move from one client to the other? Known changes count too: no shipped ledger applies."""
    run(quiet, verbose, **given, subject=[baseline, candidate], no_ledger=True)


@app.command(epilog=epilog("analyze"), rich_help_panel=ON_BROKERS)
def analyze(
    runs: Annotated[list[str], typer.Argument(help="Run directories, or their URLs; several are judged together.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the report; the run directory when it is only one, and no URL.")
    ] = None,
    master: MasterOption = None,
    inconclusive: InconclusiveOption = "fail",
    strict: StrictOption = False,
    ledger: LedgerOption = None,
    no_ledger: NoLedgerOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Judge stored runs again, without a cluster."""
    from rocketdiff.analysis.spark.ahead import prepare
    from rocketdiff.core.answers.policy import policy_of
    from rocketdiff.judging.ledgers import LedgerChoice, load_for
    from rocketdiff.releases.jdk import find_java
    from rocketdiff.run.selection import require_usable
    from rocketdiff.traces.remote import local_runs, require_local

    policy = policy_of(inconclusive, strict=strict)
    require_usable(out or Path(), master)
    require_local(runs, out, master)
    detail = detail_of(quiet=quiet, verbose=verbose)
    with local_runs(runs) as folders:
        known = load_for(LedgerChoice(tuple(ledger or ()), shipped=not no_ledger), folders)
        # After the runs were opened, and before the last import, which takes half a second in which the JVM starts.
        prepare(master, find_java().home, is_soon=True)
        from rocketdiff.judging.judge_runs import judge_runs

        with shown_on_terminal(detail) as listeners:
            judged = judge_runs(folders, out=out, master=master, policy=policy, ledger=known, listeners=listeners)
    leave(judged.judgement.exit_code)


@app.command(epilog=epilog("report"), rich_help_panel=ON_BROKERS)
def report(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory, or the JSON document itself.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the rendered files; beside the document when not given.")
    ] = None,
    since: Annotated[
        Path | None, typer.Option(help="An earlier run, or its report.json: comment.md begins with what is new since.")
    ] = None,
) -> None:
    """Render the stored JSON document again: HTML, JUnit, Markdown, SARIF, badge."""
    from rocketdiff.judging.judge_runs import render_again

    for name, path in render_again(run_dir, out, since):
        typer.echo(f"{name}: {path}")


@app.command(epilog=epilog("diff"), rich_help_panel=ON_BROKERS)
def diff(
    before: Annotated[
        Path, typer.Argument(metavar="OLD", help="Run directory, or its report.json: main's, or last week's.")
    ],
    after: Annotated[Path, typer.Argument(metavar="NEW", help="The run, or report.json, to compare with it.")],
) -> None:
    """List what is new, gone or more frequent in one judged run against an earlier one; exit 1 if anything that gates is new."""
    from rocketdiff.report.document import load
    from rocketdiff.report.run_difference import render

    lines, code = render((load(before), load(after)))
    for line in lines:
        typer.echo(printable(line))
    leave(code)


@app.command(epilog=epilog("explain"), rich_help_panel=ON_BROKERS)
def explain(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN")],
    subject: Annotated[str, typer.Argument(help="Subject of the run, or baseline / candidate.")],
    where: Annotated[str | None, typer.Argument(metavar="[SEND]", help="Number of the send.")] = None,
    case: Annotated[str | None, typer.Option(help="Case name or number, when the run has several.")] = None,
    queue: Annotated[
        str | None, typer.Option(help="Of consumers, instead of a send: who worked on broker-b/3?")
    ] = None,
    at: Annotated[float | None, typer.Option(help="When, in seconds since the first message was due.")] = None,
) -> None:
    """Print the rule chain behind one send, and what the other arm did."""
    from rocketdiff.judging.explain import explain as explained
    from rocketdiff.judging.explain import explain_owners

    if where is not None and queue is None and at is None:
        lines = explained(run_dir, subject, where, case)
    elif where is None and queue is not None and at is not None:
        lines = explain_owners(run_dir, subject, queue, at, case)
    else:
        raise UsageError("a send, or --queue with --at", seen="neither, or parts of both", hint="see explain --help")
    for line in lines:
        typer.echo(printable(line))


def add(panel: str, *commands: Callable[..., None]) -> None:
    """Add commands, each under the name of its function."""
    for command in commands:
        app.command(epilog=epilog(command.__name__), rich_help_panel=panel)(command)


def add_group(panel: str, name: str, group: typer.Typer) -> None:
    """Add a command that has commands of its own."""
    app.add_typer(group, name=name, epilog=epilog(name), rich_help_panel=panel)


add(AROUND, doctor)
add_group(AROUND, "scenarios", scenarios_app)
add_group(AROUND, "cluster", cluster_app)
add_group(AROUND, "subject", subject_app)
add_group(AROUND, "ledger", ledger_app)
add(MANY, campaign, matrix)
add_group(MANY, "record", record_app)
add(VIRTUAL, changelog, upgrade, bisect, groups, identify, simulate)
add(MAINTAINERS, calibrate, fuzz)


def detail_of(*, quiet: bool, verbose: bool) -> "Detail":
    """Raises UsageError for both."""
    from rocketdiff.report.formats.summary import Detail

    if quiet and verbose:
        raise UsageError("either --quiet or --verbose", seen="both")
    return Detail.BRIEF if quiet else Detail.FULL if verbose else Detail.USUAL


@contextmanager
def shown_on_terminal(detail: "Detail") -> "Iterator[list[Listener]]":
    """Progress on standard error unless brief, the answer on standard output. The bars are always removed at the end."""
    from rocketdiff.report.formats.summary import Detail
    from rocketdiff.report.output import OutputListener
    from rocketdiff.report.terminal import TerminalListener

    progress = TerminalListener(Console(stderr=True, emoji=False))
    output = OutputListener(detail)
    try:
        yield [output] if detail is Detail.BRIEF else [progress, output]
    finally:
        progress.close()


def leave(code: int) -> NoReturn:
    """End a command with an exit code of rocketdiff.core.errors."""
    raise typer.Exit(int(code))


def version_asked(value: bool) -> None:
    """Print the version and exit."""
    if value:
        typer.echo(f"rocketdiff {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=version_asked, is_eager=True)] = False,
) -> None:
    """rocketdiff: a differential conformance harness against real Apache RocketMQ."""


def main(arguments: list[str] | None = None) -> None:
    """Entry point. Every ending is one message and one exit code."""
    outlive_readers()
    interruption = Interruption()
    on_signals(interruption)
    try:
        code = guarded(arguments, interruption)
    except KeyboardInterrupt:  # before anything was started
        sys.stderr.write(f"{INTERRUPTED_MESSAGE}\n")
        code = INTERRUPTED
    # Checked here, because wrong usage and internal errors must be mapped too.
    asked = "--bisect" in (sys.argv[1:] if arguments is None else arguments)
    ended(for_bisect(code) if asked else code)


def guarded(arguments: list[str] | None, interruption: Interruption | None = None) -> int:
    """Run the command line and turn every error into an exit code."""
    errors = Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)
    try:
        result = app(arguments, standalone_mode=False, default_map=defaults_of_run(arguments))
    except HarnessError as error:
        for each in in_order(error):
            errors.print(f"[bold red]rocketdiff:[/] {escape(str(each))}")
        return int(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        errors.print(INTERRUPTED_MESSAGE)
        return INTERRUPTED
    except TyperException as error:
        if not error.format_message():  # the help has been printed; 0 would let a gate pass whose command got lost
            errors.print("[bold red]rocketdiff:[/] expected a command; saw none")
            return ExitCode.USAGE
        errors.print(f"[bold red]rocketdiff:[/] {escape(printable(error.format_message()))}; see rocketdiff --help")
        return ExitCode.USAGE
    except Exception as error:  # noqa: BLE001 - any other error is our own fault and must say so
        if interruption is None or not interruption.came:
            return own_fault(error, errors)
        result = INTERRUPTED
    code = int(result) if isinstance(result, int) else 0  # typer returns 130 for a Ctrl-C that it caught itself
    if code == INTERRUPTED:
        errors.print(INTERRUPTED_MESSAGE)
    return code


def in_order(error: HarnessError) -> list[HarnessError]:
    """Return an error after those in whose handling it was raised, as by a cleanup: the first is why anything was cleaned up."""
    before = error.__context__
    if error.__suppress_context__ or not isinstance(before, HarnessError):
        return [error]
    return [*in_order(before), error]


def defaults_of_run(arguments: list[str] | None) -> dict[str, Any]:
    """Return what the option file of the current folder states for `run` and `compare`, and name it on standard error."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] not in (["run"], ["compare"]):
        return {}
    found = options_in(Path())
    if found is None:
        return {}
    sys.stderr.write(f"{found}\n")
    return found.defaults()


def own_fault(error: Exception, errors: Console) -> int:
    """Exit code 70 and the traceback in a file for a bug report. Exit code 4 for a path that is too long."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        # Raised by the first access to a path, which only the user can have named.
        named = UsageError(
            "a path that the system takes", seen=f"{error.strerror}: {printable(str(error.filename), 60)}"
        )
        errors.print(f"[bold red]rocketdiff:[/] {escape(str(named))}")
        return ExitCode.USAGE
    details = "".join(traceback.format_exception(error))
    errors.print(f"[bold red]rocketdiff:[/] internal error: {escape(printable(f'{type(error).__name__}: {error}'))}")
    try:
        # An unpredictable name, because the temporary folder is shared.
        descriptor, path = tempfile.mkstemp(prefix="rocketdiff-fault-", suffix=".txt")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(details)
    except OSError:
        errors.print("please report it with:", details, markup=False)
    else:
        errors.print(f"please report it with {path}")
    return ExitCode.INTERNAL


if __name__ == "__main__":
    main()
