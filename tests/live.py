"""Shared by live tests: a cluster, private folders, and runs repeated on a busy machine."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.start import start_cluster
from rocketdiff.releases.cache import CACHE_VARIABLE, cache_dir
from rocketdiff.subjects.limits import Deadlines
from rocketdiff.subjects.subject_process import SubjectProcess
from tests.side_by_side import is_live, shares_a_cluster

READY_S = 240.0
"""Several times a start on an idle machine, because other tests start clusters too."""

BUILD_VARIABLE = "ROCKETDIFF_BUILD_CLIENTS"
"""Set by `make clients`: also build the clients that were never built here, which takes minutes."""

DOWNLOADED = ("artifacts", "classes", "clients", "cpp", "jdk")
"""Shared by all tests: these folders only grow, and one process at a time adds to them."""


TRIES = 5
"""Maximum number of runs that a busy machine may leave undecided; more would hide a run that never decides."""

PATIENCE_S = 120.0
"""Longer than any awaited event takes on a machine shared by many tests."""

PLENTY_MS = 10_000
"""Timeout of sends that no test waits for: longer than a healthy broker needs."""

REPEATED = "repeated because the machine was busy"
"""Property of a test: what it ran again."""

Outcome = TypeVar("Outcome")

_repeated: list[str] = []


def report_repeat(what: str) -> None:
    """State at the end of the output that the running test repeated a run."""
    _repeated.append(what)


def repeated(run: Callable[[int], Outcome], left_open: Callable[[Outcome], str], tries: int = TRIES) -> Outcome:
    """
    Return the outcome of the first run that a busy machine left nothing open in, or of the last of ``tries``.

    run: called with its number, from 1. left_open: says what is open and why the run is repeated; empty if nothing is.
    """
    for number in range(1, tries):
        outcome = run(number)
        what = left_open(outcome)
        if not what:
            return outcome
        report_repeat(what)
    return run(tries)


def await_that(condition: Callable[[], bool], what: str = "what was awaited", *, within_s: float = PATIENCE_S) -> None:
    """Wait for a condition; AssertionError after ``within_s``."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"{what} within {within_s:g} s"
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def _record_repeats(record_property: Callable[[str, object], None]) -> Iterator[None]:
    _repeated.clear()
    yield
    for what in _repeated:
        record_property(REPEATED, what)


class Repeats:
    """Prints the repeated runs of all tests, also of other processes, at the end of the output."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            test = report.nodeid.partition("@")[0]  # without the suffix of pytest-xdist
            self.lines += [f"{test}: {what}" for name, what in report.user_properties if name == REPEATED]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.lines:
            terminalreporter.section("run again, the machine was too busy")
            terminalreporter.write("".join(f"{line}\n" for line in self.lines))


def pytest_configure(config: pytest.Config) -> None:
    """Workers do not register: the process that started them reports."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Repeats(), "repeats")


class SharedCluster:
    """
    One cluster for all consecutive tests of this process with its topology.

    An idle broker takes a fifteenth of a core, which other tests need.
    """

    def __init__(self, topology: str, folders: pytest.TempPathFactory) -> None:
        self._topology = topology
        self._folders = folders
        self._running = ExitStack()
        self._cluster: Cluster | None = None

    def cluster(self) -> Cluster:
        """Start it if necessary."""
        if self._cluster is None:
            folder = self._folders.mktemp(self._topology)
            self._cluster = self._running.enter_context(
                start_cluster(topology=self._topology, folder=folder, timeout_s=READY_S)
            )
        return self._cluster

    def close(self) -> None:
        """Stop the cluster; it can be started again."""
        self._cluster = None
        self._running.close()


_shared: list[SharedCluster] = []


@pytest.fixture(scope="session")
def shared_two_masters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedCluster]:
    """For the fixture ``two_masters``."""
    shared = SharedCluster("two-masters", tmp_path_factory)
    _shared.append(shared)
    yield shared
    shared.close()


@pytest.fixture
def two_masters(shared_two_masters: SharedCluster) -> Iterator[Cluster]:
    """The shared cluster, healed after the test. Topics remain, so each test needs its own names."""
    cluster = shared_two_masters.cluster()
    yield cluster
    cluster.heal_all()


@pytest.fixture
def time_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the subject check wait longer than two seconds for a stopped client, which a busy machine may hold up."""
    patient = partial(SubjectProcess, deadlines=Deadlines(exit_s=20.0))
    monkeypatch.setattr("rocketdiff.run.subject_check.check.SubjectProcess", patient)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Stop a shared cluster that the next test does not use, after the test's own fixtures."""
    if nextitem is not None and not shares_a_cluster(nextitem):
        for shared in _shared:
            shared.close()


@pytest.fixture(autouse=True)
def _own_cache(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Give a live test a private cache folder that shares only downloads.

    It contains undo logs and the state of `cluster up`: a run executes those of dead runs and waits for living ones, which must
    not be another test's.
    """
    if is_live(request.node):
        factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
        monkeypatch.setenv(CACHE_VARIABLE, str(own_cache(factory.mktemp("cache"), cache_dir())))


@pytest.fixture
def own_cache_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Private cache folder that shares only downloads, for tests that write to it."""
    folder = own_cache(tmp_path_factory.mktemp("cache"), cache_dir())
    monkeypatch.setenv(CACHE_VARIABLE, str(folder))
    return folder


def own_cache(folder: Path, everybodys: Path) -> Path:
    """Make a cache folder with its own undo logs and links to the shared downloads."""
    for name in DOWNLOADED:
        (everybodys / name).mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(everybodys / name)
    return folder
