"""Help texts that name what there is: each name, none that is refused."""

import inspect
import re
from collections.abc import Callable

import pytest

from harness.cli import run
from harness.cli_calibrate import calibrate
from harness.cli_cluster import cluster_up
from harness.cli_listing import scenarios
from harness.cli_simulation import simulate
from harness.cluster.topology import TOPOLOGIES
from harness.pytest_plugin import pytest_addoption
from harness.scenario.model import SUITES


def help_of(command: Callable[..., None], parameter: str) -> str:
    """Before a terminal breaks its lines."""
    (option,) = inspect.signature(command).parameters[parameter].annotation.__metadata__
    text: str = option.help
    return text


def names(text: str) -> set[str]:
    """Words as they are typed."""
    return set(re.findall(r"[a-z]+(?:[-:][a-zA-Z]+)*", text))


@pytest.mark.parametrize("command", [run, simulate, scenarios])
def test_every_suite_is_named_with_what_no_suite_means(command: Callable[..., None]) -> None:
    """A list without a suite is of all scenarios; a run without one is the quick suite."""
    text = help_of(command, "suite")
    assert {*SUITES, "all"} <= names(text)
    assert text.endswith("all when not given." if command is scenarios else "quick unless scenarios are chosen.")


def test_the_plugin_names_every_suite() -> None:
    """As the command line does."""
    parser = pytest.Parser(_ispytest=True)
    pytest_addoption(parser)
    (option,) = [one for one in parser.getgroup("rocketdiff").options if "--rocketdiff-suite" in one.names()]
    assert {*SUITES, "all"} <= names(str(option.attrs()["help"]))


def test_every_topology_is_named() -> None:
    """All that `cluster up` can start."""
    assert names(help_of(cluster_up, "topology")) == set(TOPOLOGIES)


def test_only_a_run_offers_a_cluster_of_the_users_own() -> None:
    """The others start theirs, and refuse one."""
    assert "external:FILE" in names(help_of(run, "cluster"))
    for command in (calibrate, cluster_up):
        assert "external:FILE" not in names(help_of(command, "cluster"))
        assert {"processes", "containers", "containers:host"} <= names(help_of(command, "cluster"))
