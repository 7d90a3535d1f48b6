"""Help texts name every valid name and no other."""

import inspect
import re
import shlex
from collections.abc import Callable
from typing import Any

import pytest
import typer

from rocketdiff.cli.app import app, guarded, run
from rocketdiff.cli.commands.calibrate import calibrate
from rocketdiff.cli.commands.cluster import cluster_up
from rocketdiff.cli.commands.inspect import scenarios
from rocketdiff.cli.commands.simulate import simulate
from rocketdiff.cli.examples import EXAMPLES
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.suites import SUITES
from rocketdiff.core.tables.topology import TOPOLOGIES
from rocketdiff.pytest_plugin import pytest_addoption


def help_of(command: Callable[..., None], parameter: str) -> str:
    (option,) = inspect.signature(command).parameters[parameter].annotation.__metadata__
    text: str = option.help
    return text


def names(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+(?:[-:][a-zA-Z]+)*", text))


@pytest.mark.parametrize("command", [run, simulate, scenarios])
def test_every_suite_is_named_with_what_no_suite_means(command: Callable[..., None]) -> None:
    """The help names every suite and what is chosen without one."""
    text = help_of(command, "suite")
    assert {*SUITES, "all"} <= names(text)
    assert text.endswith("all when not given." if command is scenarios else "unless scenarios are chosen.")
    assert command is scenarios or "; quick (" in text or "; quick unless" in text


def test_the_plugin_names_every_suite() -> None:
    """The plugin's help names every suite."""
    parser = pytest.Parser(_ispytest=True)
    pytest_addoption(parser)
    (option,) = [one for one in parser.getgroup("rocketdiff").options if "--rocketdiff-suite" in one.names()]
    assert {*SUITES, "all"} <= names(str(option.attrs()["help"]))


def test_every_topology_is_named() -> None:
    """The help names every topology that `cluster up` can start."""
    assert names(help_of(cluster_up, "topology")) == set(TOPOLOGIES)


def test_only_a_run_offers_a_cluster_of_the_users_own() -> None:
    """Only `run` offers an external cluster; the other commands start their own."""
    assert "external:FILE" in names(help_of(run, "cluster"))
    for command in (calibrate, cluster_up):
        assert "external:FILE" not in names(help_of(command, "cluster"))
        assert {"processes", "containers", "containers:host"} <= names(help_of(command, "cluster"))


@pytest.mark.parametrize("command", [name for name in EXAMPLES if name])
def test_every_example_is_taken_by_its_command(command: str) -> None:
    """Every example is accepted by its command's parser."""
    for example in EXAMPLES[command]:
        words = shlex.split(example)[1:]
        one: Any = typer.main.get_command(app)
        name = ""
        while words and words[0] in getattr(one, "commands", {}):
            name = words.pop(0)
            one = one.commands[name]
        assert one.make_context(name, words).info_name == name


def test_every_command_has_an_example() -> None:
    """Every command and group has an example."""
    programme: Any = typer.main.get_command(app)
    groups = {name: one.commands for name, one in programme.commands.items() if hasattr(one, "commands")}
    names = [*programme.commands, *(f"{group} {name}" for group, commands in groups.items() for name in commands)]
    assert set(EXAMPLES) == {"", *names}


@pytest.mark.parametrize("words", [[], ["run"], ["cluster", "up"], ["ledger", "lint"], ["calibrate"]])
def test_h_is_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """`-h` is `--help`, with examples and exit codes."""
    assert guarded([*words, "-h"]) == ExitCode.CONFORMS
    short = capsys.readouterr().out
    assert guarded([*words, "--help"]) == ExitCode.CONFORMS
    assert capsys.readouterr().out == short
    assert "Example" in short
    assert "Exit codes: 0 conforms, 1 diverges" in short


def test_no_words_at_all_print_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """Without arguments the help is printed, but it is wrong usage: a script that lost them must not pass."""
    assert guarded([]) == ExitCode.USAGE
    assert "compare" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["record"]], ids=["rocketdiff", "record"])
def test_a_missing_command_is_no_pass(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Without a command the help is shown, and the exit code is that of wrong usage: 0 means that clients conform."""
    assert guarded(words) == ExitCode.USAGE
    shown = capsys.readouterr()
    assert "Usage: " in shown.out
    assert shown.err == "rocketdiff: expected a command; saw none\n"
