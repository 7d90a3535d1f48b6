"""
The pytest plugin: scenarios as items under ``--rocketdiff``, and fixtures with a real cluster and real clients.

Every pytest of an environment with rocketdiff loads this module. So it imports only pytest and tables of names at the top
level.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from rocketdiff.core.tables.run_options import FOR_PYTEST, RUN_OPTIONS, RunOption
from rocketdiff.pytest_plugin.markers import grouped, topology_of

if TYPE_CHECKING:
    from pathlib import Path

    from rocketdiff.cluster.interface import Cluster
    from rocketdiff.pytest_plugin.subject import LiveSubject
    from rocketdiff.run.cluster_pool import ClusterPool

MARKER = "rocketdiff(topology='two-masters'): set on every scenario; on a test of your own it names the cluster that rocketmq_cluster gives"
CLUSTER_FIXTURE = "rocketmq_cluster"
OPTIONS_OF_FIXTURES = ("--rocketdiff-server", "--rocketdiff-cluster")
"""Options that fixtures use even without scenarios."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of `rocketdiff run` that make sense here, prefixed with the plugin's name."""
    group = parser.getgroup("rocketdiff", "rocketdiff: two RocketMQ clients side by side on real brokers")
    group.addoption("--rocketdiff", help="collect scenarios and run them", action="store_true", default=False)
    for option in (RUN_OPTIONS[name] for name in FOR_PYTEST):
        group.addoption(f"--rocketdiff-{option.name}", help=option.pytest_help, **_as_pytest_reads_it(option))


def _as_pytest_reads_it(option: RunOption) -> dict[str, object]:
    if option.type is bool:
        return {"action": "store_true", "default": False}
    if option.is_many:
        return {"action": "append", "default": [], "type": option.type}
    return {"default": option.default, "type": option.type}


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and with ``--rocketdiff`` the scenarios."""
    config.addinivalue_line("markers", MARKER)
    if config.getoption("rocketdiff"):
        from rocketdiff.pytest_plugin.collection import Scenarios

        config.pluginmanager.register(Scenarios.of(config), "rocketdiff-scenarios")
    elif useless := _useless(config):
        raise pytest.UsageError(f"rocketdiff: {', '.join(useless)} without --rocketdiff does nothing; add --rocketdiff")


def _useless(config: pytest.Config) -> list[str]:
    """Options in a project's settings are allowed without ``--rocketdiff``."""
    words = [str(word).partition("=")[0] for word in config.invocation_params.args]
    return [word for word in words if word.startswith("--rocketdiff-") and word not in OPTIONS_OF_FIXTURES]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For ``--dist loadgroup``: tests and scenarios of one topology run on one worker."""
    for item in items:
        if CLUSTER_FIXTURE in getattr(item, "fixturenames", ()):
            grouped(item, topology_of(item))


@pytest.fixture(scope="session")
def rocketdiff_clusters(pytestconfig: pytest.Config) -> "ClusterPool":
    """The clusters of this process, at most one at a time."""
    from rocketdiff.pytest_plugin.clusters import pool_of

    return pool_of(pytestconfig)


@pytest.fixture
def rocketmq_cluster(rocketdiff_clusters: "ClusterPool", request: pytest.FixtureRequest) -> "Iterator[Cluster]":
    """
    A real RocketMQ on loopback, shared by the tests of its topology and healed after each.

    Its topics stay: use a new name in each test.
    """
    cluster = rocketdiff_clusters.cluster(topology_of(request.node))
    yield cluster
    rocketdiff_clusters.heal()


@pytest.fixture
def rocketdiff_subject(rocketmq_cluster: "Cluster", tmp_path: "Path") -> "Callable[[str], LiveSubject]":
    """Make a real client from its name, ``client:release``, that sends to ``rocketmq_cluster``."""
    from rocketdiff.pytest_plugin.subject import subject_maker

    return subject_maker(rocketmq_cluster, tmp_path)
