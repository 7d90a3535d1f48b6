"""`rocketdiff ledger`: lint, propose and prune the ledgers of declared divergences."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rocketdiff.cli.examples import epilog
from rocketdiff.cli.options import JsonOption, ScenariosOption
from rocketdiff.core.errors import ExitCode, UsageError

ledger_app = typer.Typer(help="Declared divergences: check, propose, remove.", no_args_is_help=True)

FromOption = typer.Option("--from", help="Run directory (or its report.json) that has been judged.")


@ledger_app.command("lint", epilog=epilog("ledger lint"))
def ledger_lint(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Ledger files; the shipped ones when none is given.")
    ] = None,
    scenarios: ScenariosOption = None,
    allow_growth: Annotated[
        bool, typer.Option("--allow-growth", help="More entries than a file's ratchet says are only a warning.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check ledgers; exit code 4 if anything must be corrected."""
    from rocketdiff.judging.ledger_upkeep import lint_files
    from rocketdiff.judging.ledgers import shipped_files
    from rocketdiff.ledger.lint import Level
    from rocketdiff.report.words.signs import plural

    paths = tuple(files or shipped_files())
    findings = lint_files(paths, scenarios, allow_growth=allow_growth)
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=1))
    else:
        for finding in findings:
            typer.echo(f"{finding.level}: {finding.place}: {finding.said}")
        wrong = sum(finding.level is Level.ERROR for finding in findings)
        counts = ((len(paths), "ledger"), (wrong, "error"), (len(findings) - wrong, "warning"))
        typer.echo(", ".join(plural(count, noun) for count, noun in counts))
    failed = any(finding.level is Level.ERROR for finding in findings)
    raise typer.Exit(int(ExitCode.USAGE if failed else ExitCode.CONFORMS))


@ledger_app.command("propose", epilog=epilog("ledger propose"))
def ledger_propose(
    run_dir: Annotated[Path, FromOption],
    out: Annotated[Path | None, typer.Option(help="New file for the entries; standard output when not given.")] = None,
) -> None:
    """Write an entry for each undeclared divergence of a judged run; it excuses nothing until you edit it."""
    from rocketdiff.documents.files import replace_file
    from rocketdiff.judging.ledger_upkeep import propose

    if out is not None and out.exists():
        raise UsageError("a new file for the proposed entries", seen=f"{out} exists", hint="name another with --out")
    text = propose(run_dir)
    if not text:
        typer.echo("nothing to propose: no undeclared divergence", err=True)
    elif out is None:
        typer.echo(text, nl=False)
    else:
        replace_file(out, text.encode())
        typer.echo(f"wrote {out}; look at every entry, fill in what says TODO, remove its status")


@ledger_app.command("prune", epilog=epilog("ledger prune"))
def ledger_prune(
    files: Annotated[list[Path], typer.Argument(help="Ledger files to clean.")],
    runs: Annotated[list[Path], FromOption],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be removed.")] = False,
) -> None:
    """Remove entries that judged runs found stale everywhere; the rest of the file stays as it is."""
    from rocketdiff.judging.ledger_upkeep import prune

    for pruned in prune(runs, files, dry_run=dry_run):
        for name in pruned.removed:
            typer.echo(f"{pruned.path}: {'would remove' if dry_run else 'removed'} {name}")
        for name in pruned.kept:
            typer.echo(f"{pruned.path}: kept {name}, which still occurs in some checks: narrow it")
        if not pruned.removed and not pruned.kept:
            typer.echo(f"{pruned.path}: nothing is stale")
