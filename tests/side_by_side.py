"""
Pytest plugin: how `make test` distributes tests to its processes, which outnumber the cores.

Live tests start servers and clients and mostly wait, so several run in parallel. All processes but the last begin with live
tests, the last with tests that only compute; a process without tests of its kind takes the other kind. Long tests go first, but
live tests on a shared cluster before all. Tests that share a fixture of their module stay together, as do those that need the
Java host or Spark.

Built on pytest-xdist's `loadgroup`, which reads the group after an @ in the test's name.
"""

import inspect
from collections.abc import Callable

import pytest
from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController

LIVE = ("cluster", "container")
"""Markers of tests that start servers or clients."""

LIVE_UNIT = "live:"
"""Prefix of every group of live tests."""

SHARED = "shared_two_masters"
"""Fixture with a cluster per process, so its tests need not stay together."""

SHARED_UNIT = f"{LIVE_UNIT}shared:"
"""Prefix of groups on a shared cluster. They go first and consecutively: a process stops the cluster before any other test."""

LONG = ("tests/whole/", "tests/cluster/containers/")
"""These take longest, so they begin before other live tests."""

TOGETHER = {"java_host": "java", "spark": "spark"}
"""Session fixtures that take ten seconds to start, and their groups: only one process starts each."""

BEGIN_EARLY = (
    *TOGETHER.values(),
    "tests/maintenance/mutants/",
    "tests/lab/fuzz/",
    "tests/record/spark/test_cluster.py",
    "tests/record/test_killed.py",
    "tests/campaign/",
    "tests/relay/test_cpp_",
)
"""Tests that take half a minute or often wait; started last they would leave processor cores idle."""


class SideBySide(LoadGroupScheduling):  # type: ignore[misc]  # xdist comes without types
    """Live groups first in all workers but the last, other groups first in that one."""

    _is_in_order = False

    def _assign_work_unit(self, node: WorkerController) -> None:
        if not self._is_in_order:
            for unit in sorted(self.workqueue, key=_turn):
                self.workqueue.move_to_end(unit)
            self._is_in_order = True
        self.workqueue.move_to_end(self._next_unit(node.gateway.id), last=False)
        super()._assign_work_unit(node)

    def _next_unit(self, worker: str) -> str:
        """The first group of the queue; for the last worker the first that is not live, reached by skipping live ones only."""
        first = str(next(iter(self.workqueue)))
        if not begins_with_others(worker, self.numnodes):
            return first
        return next((str(unit) for unit in self.workqueue if not unit.startswith(LIVE_UNIT)), first)


def begins_with_others(worker: str, workers: int) -> bool:
    """True if a worker (gw0, gw1 …) begins with tests that are not live; a single worker begins with live ones."""
    return workers > 1 and worker == f"gw{workers - 1}"


def _turn(unit: str) -> int:
    """Sort order: live tests on a shared cluster, long live ones, other live ones, long others, the rest."""
    if unit.startswith(SHARED_UNIT):
        return 0
    if unit.startswith(LIVE_UNIT):
        return 1 if unit.removeprefix(LIVE_UNIT).startswith(LONG) else 2
    return 3 if unit.startswith(BEGIN_EARLY) else 4


def is_live(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in LIVE)


def shares_a_cluster(item: pytest.Item) -> bool:
    return SHARED in getattr(item, "fixturenames", ())


def unit_of(item: pytest.Item) -> str | None:
    """The group of a test: all tests that share a fixture with it, or a live test alone; None for any other."""
    module, _, name = item.nodeid.partition("::")
    unit = module if _shares_a_fixture(item) else f"{module}::{name}"
    if is_live(item):
        begin = SHARED_UNIT if shares_a_cluster(item) and not _shares_a_fixture(item) else LIVE_UNIT
        # xdist takes an @ before a closing bracket as part of a parameter.
        return begin + unit.translate(str.maketrans("[]@", "()-"))
    started = (one for fixture, one in TOGETHER.items() if fixture in getattr(item, "fixturenames", ()))
    return next(started, unit if _shares_a_fixture(item) else None)


def _shares_a_fixture(item: pytest.Item) -> bool:
    """True if a test uses a fixture of this project, not of a plugin, with a longer scope than a function."""
    if not isinstance(item, pytest.Function):
        return False
    used = (
        one for name, definitions in item._fixtureinfo.name2fixturedefs.items() if name != SHARED for one in definitions
    )
    return any(one.scope != "function" and not _is_installed(one.func) for one in used)


def _is_installed(function: Callable[..., object]) -> bool:
    return "-packages" in inspect.unwrap(function).__code__.co_filename


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if getattr(config.option, "loadgroup", False):
        for item in items:
            unit = unit_of(item)
            if unit is not None:
                item.add_marker(pytest.mark.xdist_group(unit))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a live test without a group: tests on a shared cluster would disturb each other."""
    if getattr(item.config.option, "loadgroup", False) and is_live(item) and f"@{LIVE_UNIT}" not in item.nodeid:
        pytest.fail(
            "expected pytest-xdist to put every live test into its group; saw this one in none; "
            "try: the pytest and pytest-xdist of requirements.lock (make setup)",
            pytrace=False,
        )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> SideBySide | None:
    return SideBySide(config, log) if config.getvalue("dist") == "loadgroup" else None
