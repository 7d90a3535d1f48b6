"""
The pytest plugin: scenarios as items under ``--rocketdiff``, and a real cluster and real clients for anybody's own tests.

Every pytest of an environment that has rocketdiff loads this module, so it imports nothing but pytest and a table of
names; all else is imported by whoever asks for it.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from rocketdiff.pytest_plugin.markers import grouped, topology_of

if TYPE_CHECKING:
    from pathlib import Path

    from rocketdiff.cluster.interface import Cluster
    from rocketdiff.pytest_plugin.subject import LiveSubject
    from rocketdiff.run.cluster_pool import ClusterPool

MARKER = "rocketdiff(topology='two-masters'): set on every scenario; on a test of your own it names the cluster that rocketmq_cluster gives"
CLUSTER_FIXTURE = "rocketmq_cluster"
OPTIONS_OF_FIXTURES = ("--rocketdiff-server", "--rocketdiff-cluster")
"""What the fixtures heed as well, with or without scenarios."""
DEFAULT_RELEASE = "5.3.3"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `rocketdiff run` that make sense here, each with the plugin's name in front."""
    from rocketdiff.core.suites import SUITES_IN_WORDS

    group = parser.getgroup("rocketdiff", "rocketdiff: two RocketMQ clients side by side on real brokers")

    def add(name: str, text: str, **more: object) -> None:
        group.addoption(f"--rocketdiff{name}", help=text, **more)

    add("", "collect scenarios and run them", action="store_true", default=False)
    add("-subject", "client:release, given twice; the first is the baseline", action="append", default=[])
    add(
        "-suite",
        f"shipped scenarios of a suite: {SUITES_IN_WORDS}; quick when nothing else is chosen",
    )
    add("-scenario", "only scenarios whose name matches this glob; may be given again", action="append", default=[])
    add("-scenarios", "a folder of scenario files instead of the shipped ones")
    add("-server", "release of name servers and brokers", default=DEFAULT_RELEASE)
    add("-cluster", "what runs them: processes, containers or containers:host", default="processes")
    add("-wire", "relays before both clients as second witnesses", action="store_true", default=False)
    add("-seed", "seed of plans and phases; drawn and printed when not given", type=int)
    add("-out", "folder that receives the run directories", default="reports")
    add("-ledger", "file of declared divergences besides the shipped ones", action="append", default=[])
    add("-no-ledger", "leave the shipped ledgers out", action="store_true", default=False)
    add("-inconclusive", "what an inconclusive gating check does: fail, warn or pass", default="fail")
    add("-strict", "checks of severity 'should' gate too", action="store_true", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Tell of the marker; with ``--rocketdiff`` let the scenarios in."""
    config.addinivalue_line("markers", MARKER)
    if config.getoption("rocketdiff"):
        from rocketdiff.pytest_plugin.collection import Scenarios

        config.pluginmanager.register(Scenarios.of(config), "rocketdiff-scenarios")
    elif useless := _useless(config):
        raise pytest.UsageError(f"rocketdiff: {', '.join(useless)} without --rocketdiff does nothing; add --rocketdiff")


def _useless(config: pytest.Config) -> list[str]:
    """Options of scenarios that somebody typed while none is asked for; those of a project's settings wait for ``--rocketdiff``."""
    words = [str(word).partition("=")[0] for word in config.invocation_params.args]
    return [word for word in words if word.startswith("--rocketdiff-") and word not in OPTIONS_OF_FIXTURES]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Under ``--dist loadgroup`` tests that share a cluster go to one worker, the scenarios of its topology too."""
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

    Its topics stay: take a new name in each test.
    """
    cluster = rocketdiff_clusters.cluster(topology_of(request.node))
    yield cluster
    rocketdiff_clusters.heal()


@pytest.fixture
def rocketdiff_subject(rocketmq_cluster: "Cluster", tmp_path: "Path") -> "Callable[[str], LiveSubject]":
    """Make a real client from its name, ``client:release``, that sends to ``rocketmq_cluster``."""
    from rocketdiff.pytest_plugin.subject import subject_maker

    return subject_maker(rocketmq_cluster, tmp_path)
