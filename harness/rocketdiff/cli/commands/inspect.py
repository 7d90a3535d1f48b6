"""`rocketdiff scenarios` and `doctor`: the scenarios, and what this machine has."""

from typing import Annotated

import typer

from rocketdiff.cli.examples import epilog
from rocketdiff.cli.options import JsonOption, ListedSuiteOption, ScenariosOption
from rocketdiff.core.tables.suites import suite_of

scenarios_app = typer.Typer(help="The scenarios: a list, or one of them in full.", invoke_without_command=True)


@scenarios_app.callback()
def scenarios(
    context: typer.Context,
    suite: ListedSuiteOption = None,
    folder: ScenariosOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the scenarios, what each establishes and the rows of the behaviour table it covers."""
    if context.invoked_subcommand is None:
        from rocketdiff.cli.commands.listing import print_scenarios

        print_scenarios(suite_of(suite, is_chosen=True), folder, as_json=as_json)


@scenarios_app.command("show", epilog=epilog("scenarios show"))
def show(
    name: Annotated[str, typer.Argument(help="As listed, or a glob.")],
    folder: ScenariosOption = None,
) -> None:
    """Print a scenario's file, with how long it sends and in which suites."""
    from rocketdiff.cli.commands.listing import print_files

    print_files(name, folder)


def doctor(
    as_json: JsonOption = False,
    clean: Annotated[
        bool, typer.Option("--clean", help="First remove containers and secrets that killed runs have left.")
    ] = False,
) -> None:
    """List what this machine has, what is missing, and how to get it."""
    from rocketdiff.cli.commands.listing import print_findings, remove_secrets, sweep_containers

    if clean:
        sweep_containers()
        remove_secrets()
    raise typer.Exit(print_findings(as_json=as_json))
