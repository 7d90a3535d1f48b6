"""What live tests have in common: a cluster they share, folders of their own, and runs that a busy machine spoilt."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.start import start_cluster
from rocketdiff.releases.cache import CACHE_VARIABLE, cache_dir
from tests.side_by_side import is_live, shares_a_cluster
from tests.untested import REPEATED

READY_S = 240.0
"""Several times what a start takes on a machine that does nothing else: other tests start clusters beside it."""

BUILD_VARIABLE = "ROCKETDIFF_BUILD_CLIENTS"
"""Set by `make clients`: clients are built that were never built here and take minutes."""

DOWNLOADED = ("artifacts", "classes", "clients", "cpp", "jdk")
"""What every test may use of the cache folder: it is only added to, by one process at a time."""


TRIES = 3
"""How often a run is made at most that a busy machine may leave undecided; more would hide one that never decides."""

PATIENCE_S = 120.0
"""Longer than anything awaited takes on a machine that many tests share; a test that waits this long has failed."""

PLENTY_MS = 10_000
"""Timeout of sends that no test waits for: longer than a healthy broker takes on such a machine."""

_repeated: list[str] = []


def tell_repeat(what: str) -> None:
    """Let the end of the output say that the running test made a run again."""
    _repeated.append(what)


def await_that(condition: Callable[[], bool], what: str = "what was awaited") -> None:
    """Return once a condition holds; AssertionError if that takes longer than any machine needs."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} within {PATIENCE_S:g} s"
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def _told_repeats(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """What this test ran again is a property of its report."""
    _repeated.clear()
    yield
    for what in _repeated:
        record_property(REPEATED, what)


class SharedCluster:
    """
    One cluster for all tests of this process that want its topology: up from the first of them to the last in a row.

    A broker that nobody asks for anything still takes a fifteenth of a core, which other tests want.
    """

    def __init__(self, topology: str, folders: pytest.TempPathFactory) -> None:
        self._topology = topology
        self._folders = folders
        self._running = ExitStack()
        self._cluster: Cluster | None = None

    def cluster(self) -> Cluster:
        """Started if it is not up."""
        if self._cluster is None:
            folder = self._folders.mktemp(self._topology)
            self._cluster = self._running.enter_context(
                start_cluster(topology=self._topology, folder=folder, timeout_s=READY_S)
            )
        return self._cluster

    def close(self) -> None:
        """Stop it; it may be started again."""
        self._cluster = None
        self._running.close()


_shared: list[SharedCluster] = []


@pytest.fixture(scope="session")
def shared_two_masters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedCluster]:
    """Use ``two_masters``."""
    shared = SharedCluster("two-masters", tmp_path_factory)
    _shared.append(shared)
    yield shared
    shared.close()


@pytest.fixture
def two_masters(shared_two_masters: SharedCluster) -> Iterator[Cluster]:
    """Whatever the test does to it is healed afterwards; its topics stay, so take names that no other test takes."""
    cluster = shared_two_masters.cluster()
    yield cluster
    cluster.heal_all()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """After a test's own fixtures: a cluster that the next test does not want is stopped."""
    if nextitem is not None and not shares_a_cluster(nextitem):
        for shared in _shared:
            shared.close()


@pytest.fixture(autouse=True)
def _own_cache(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    A live test's cache folder is its own but for what is downloaded.

    Undo logs and the state of `cluster up` lie there: a run performs those of dead ones and waits for living ones, which must
    never be another test's.
    """
    if is_live(request.node):
        factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
        monkeypatch.setenv(CACHE_VARIABLE, str(own_cache(factory.mktemp("cache"), cache_dir())))


@pytest.fixture
def own_cache_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own but for what is downloaded, for a test that keeps something there."""
    folder = own_cache(tmp_path_factory.mktemp("cache"), cache_dir())
    monkeypatch.setenv(CACHE_VARIABLE, str(folder))
    return folder


def own_cache(folder: Path, everybodys: Path) -> Path:
    """Make ``folder`` a cache folder that has its own undo logs and everybody's downloads."""
    for name in DOWNLOADED:
        (everybodys / name).mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(everybodys / name)
    return folder
