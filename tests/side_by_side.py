"""
How `make test` hands out tests to its processes, of which there are more than cores: a plugin of pytest for this project.

Live tests start servers and clients and mostly wait, so several run side by side. They begin first, in all processes but
the last, which begins with the tests that only compute. A process that has no tests of its kind left takes those of the
other; of its kind it takes what is long first, but live tests on a shared cluster before all. Tests that share a fixture of
their module stay together, and so do all that need the Java host or Spark; any other goes where there is room.

Built on pytest-xdist's `loadgroup`, which knows a group by what follows an @ in a test's name.
"""

import inspect
from collections.abc import Callable

import pytest
from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController

LIVE = ("cluster", "container")
"""Markers of tests that start servers or clients."""

LIVE_UNIT = "live:"
"""What the name of every group of live tests begins with."""

SHARED = "shared_two_masters"
"""The fixture that is a cluster for all tests of a process that want it; each process has its own, so they need not stay together."""

SHARED_UNIT = f"{LIVE_UNIT}shared:"
"""Groups of these begin first and so come one after the other: a process stops the cluster when it comes to another test."""

LONG = ("tests/whole/", "tests/cluster/containers/")
"""Whole runs and containers take longest, so they begin before other live tests."""

TOGETHER = {"java_host": "java", "spark": "spark"}
"""Fixtures of the session that take ten seconds to start, and the unit of all tests that use one: one process starts it, once."""

BEGIN_EARLY = (*TOGETHER.values(), "tests/mutants/", "tests/lab/fuzz/")
"""Tests that only compute, for half a minute and more: begun last they would leave the other processes without work."""


class SideBySide(LoadGroupScheduling):  # type: ignore[misc]  # xdist comes without types
    """Live units first in all workers but the last, the others first in that one."""

    _is_in_order = False

    def _assign_work_unit(self, node: WorkerController) -> None:
        if not self._is_in_order:
            for unit in sorted(self.workqueue, key=_turn):
                self.workqueue.move_to_end(unit)
            self._is_in_order = True
        self.workqueue.move_to_end(self._next_unit(node.gateway.id), last=False)
        super()._assign_work_unit(node)

    def _next_unit(self, worker: str) -> str:
        """The queue's first, which is live while any is, or the first that is not. (There are thousands: only the live ones are passed.)"""
        first = str(next(iter(self.workqueue)))
        if not begins_with_others(worker, self.numnodes):
            return first
        return next((str(unit) for unit in self.workqueue if not unit.startswith(LIVE_UNIT)), first)


def begins_with_others(worker: str, workers: int) -> bool:
    """Whether a worker (gw0, gw1 …) begins with what is not live; an only one begins with what is."""
    return workers > 1 and worker == f"gw{workers - 1}"


def _turn(unit: str) -> int:
    """Live units before others, of these the ones that share a cluster first, and of each kind the long ones."""
    if unit.startswith(SHARED_UNIT):
        return 0
    if unit.startswith(LIVE_UNIT):
        return 1 if unit.removeprefix(LIVE_UNIT).startswith(LONG) else 2
    return 3 if unit.startswith(BEGIN_EARLY) else 4


def is_live(item: pytest.Item) -> bool:
    """Whether a test starts servers or clients."""
    return any(item.get_closest_marker(name) for name in LIVE)


def shares_a_cluster(item: pytest.Item) -> bool:
    """Whether a test uses the cluster that is one for all such tests of its process."""
    return SHARED in getattr(item, "fixturenames", ())


def unit_of(item: pytest.Item) -> str | None:
    """What a test is handed out with: its module, if it shares something with others there; None for itself alone."""
    module, _, name = item.nodeid.partition("::")
    unit = module if _shares_a_fixture(item) else f"{module}::{name}"
    if is_live(item):
        begin = SHARED_UNIT if shares_a_cluster(item) and not _shares_a_fixture(item) else LIVE_UNIT
        # xdist takes an @ before a closing bracket for a part of a parameter.
        return begin + unit.translate(str.maketrans("[]@", "()-"))
    started = (one for fixture, one in TOGETHER.items() if fixture in getattr(item, "fixturenames", ()))
    return next(started, unit if _shares_a_fixture(item) else None)


def _shares_a_fixture(item: pytest.Item) -> bool:
    """Whether it uses a fixture of this project that lives longer than a test; those of plugins are nobody's cluster."""
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
    """Say which tests stay together, where pytest-xdist hands them out by group."""
    if getattr(config.option, "loadgroup", False):
        for item in items:
            unit = unit_of(item)
            if unit is not None:
                item.add_marker(pytest.mark.xdist_group(unit))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """No live test begins where groups were asked for and it is in none: those that share a cluster would disturb each other."""
    if getattr(item.config.option, "loadgroup", False) and is_live(item) and f"@{LIVE_UNIT}" not in item.nodeid:
        pytest.fail(
            "expected pytest-xdist to put every live test into its group; saw this one in none; "
            "try: the pytest and pytest-xdist of requirements.lock (make setup)",
            pytrace=False,
        )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> SideBySide | None:
    """Ours, for `--dist loadgroup`; what xdist has for all else."""
    return SideBySide(config, log) if config.getvalue("dist") == "loadgroup" else None
