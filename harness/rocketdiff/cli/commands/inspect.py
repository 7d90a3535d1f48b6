"""`rocketdiff scenarios` and `doctor`: the scenarios, and what this machine has."""

from typing import Annotated

import typer

from rocketdiff.cli.options import JsonOption, ListedSuiteOption, ScenariosOption
from rocketdiff.core.tables.suites import suite_of


def scenarios(
    suite: ListedSuiteOption = None,
    folder: ScenariosOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the scenarios, what each establishes and the rows of the behaviour table it covers."""
    from rocketdiff.cli.commands.listing import print_scenarios

    print_scenarios(suite_of(suite, is_chosen=True), folder, as_json=as_json)


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
