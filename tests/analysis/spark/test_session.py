"""The session factory, without starting a JVM."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pyspark import SparkContext

from rocketdiff.analysis.spark import session as sessions
from rocketdiff.analysis.spark.session import prepare, session, settings
from rocketdiff.core.errors import EnvironmentMissing, UsageError
from rocketdiff.core.spark_master import require_master


@pytest.mark.parametrize(
    "master", ["", "bogus", "local[0]", "local[x]", "local[2", "spark://nowhere", "local[-1]", "none "]
)
def test_a_wrong_master_is_refused_before_anything_is_started(master: str) -> None:
    """An invalid master is a usage error (exit code 4) before anything starts."""
    with pytest.raises(UsageError, match="--master none, local"), session(master):
        pass


@pytest.mark.parametrize(
    "master", [None, "none", "local", "local[2]", "local[*]", "local[4,2]", "spark://a:7077,b:7077", "yarn"]
)
def test_masters_that_spark_knows_are_accepted(master: str | None) -> None:
    """Spark's master forms, and ``none``, are accepted."""
    require_master(master)


LOOPBACK = dict.fromkeys(("spark.driver.bindAddress", "spark.driver.host"), "127.0.0.1")
MEMORY = {
    "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": "4294967296",
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": "8589934592",
}
"""Both malloc variables: one alone has no effect."""

ITS_OWN = ("spark.driver.bindAddress", "spark.driver.host", "spark.driver.memory", "spark.network.timeout")


@pytest.mark.parametrize(
    ("master", "wanted", "absent"),
    [
        ("local[2]", LOOPBACK | MEMORY | {"spark.ui.enabled": "false", "spark.network.timeout": "24h"}, ()),
        ("spark://localhost:7077", LOOPBACK | MEMORY, ("spark.network.timeout",)),
        ("spark://somewhere:7077", MEMORY | {"spark.master": "spark://somewhere:7077"}, ITS_OWN),
    ],
)
def test_settings_of_a_session(master: str, wanted: dict[str, str], absent: tuple[str, ...], tmp_path: Path) -> None:
    """
    A master on this machine listens on loopback only; a cluster must reach its driver, so it keeps its own addresses.

    A local session has a network timeout of 24 h: by default one stopped for two minutes loses its executor (seen with 200 s).
    """
    chosen = settings(master, tmp_path)
    assert wanted.items() <= chosen.items()
    assert not chosen.keys() & set(absent)


def test_nothing_is_written_outside_the_session_folder(tmp_path: Path) -> None:
    """Neither a warehouse nor a metastore is written outside the session folder."""
    chosen = settings("local[2]", tmp_path)
    assert Path(chosen["spark.sql.warehouse.dir"]).is_relative_to(tmp_path)
    assert chosen["spark.sql.catalogImplementation"] == "in-memory"


def test_without_java_the_error_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Java the user gets one clear error before anything starts."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EnvironmentMissing, match="a Java 17 or later"), session("local[1]"):
        pass


class StandIn:
    """Spark's JVM, as far as starting needs it."""

    def __init__(self, settings: Sequence[tuple[str, str]], folder: Path, _archive: object = None) -> None:
        self.settings = dict(settings)
        self.folder = folder
        self.is_over = False

    def has_ended(self, _timeout_s: float = 0.0) -> bool:
        return self.is_over


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[StandIn]]:
    """The stand-ins of JVMs that were started; what is being prepared ends before the real JVM is back."""
    found: list[StandIn] = []

    def start(settings: Sequence[tuple[str, str]], folder: Path, archive: object = None) -> StandIn:
        found.append(StandIn(settings, folder, archive))
        return found[-1]

    monkeypatch.setattr(sessions, "SparkProcess", start)
    monkeypatch.setattr(sessions, "class_archive", lambda _folder: None)
    monkeypatch.setattr(sessions, "take_folder", lambda: tmp_path)
    monkeypatch.setattr(sessions, "_process", None)
    monkeypatch.setattr(sessions, "_preparation", None)
    monkeypatch.setattr(sessions, "_started", lambda _master, _conf: None)
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    monkeypatch.setattr(sessions, "_end", lambda: None)  # other tests of this process have a session
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    yield found
    if sessions._preparation is not None:
        sessions._preparation.join()


def test_a_jvm_is_prepared_once(started: list[StandIn]) -> None:
    """A JVM is prepared once with the session's settings, also while its session starts; an exited one is replaced."""
    prepare("local[2]")
    prepare()
    ended()
    prepare()
    ended()
    (only,) = started
    assert only.settings["spark.master"] == "local[2]"
    only.is_over = True
    prepare()
    assert len(started) == 2


def test_a_prepared_session_is_warmed_up(started: list[StandIn], monkeypatch: pytest.MonkeyPatch) -> None:
    """The session starts, then ``then`` is called; its exception is ignored."""
    done: list[str] = []
    monkeypatch.setattr(sessions, "_started", lambda _master, _conf: done.append("session"))

    def warm_up(_: object) -> None:
        done.append("warm")
        raise OSError("nobody's")

    prepare(then=warm_up)
    ended()
    assert done == ["session", "warm"]


def test_a_session_that_is_made_ahead_runs_again_and_is_waited_for(
    started: list[StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session being prepared is resumed and awaited: a stopped JVM would never finish."""
    running = threading.Event()
    monkeypatch.setattr(StandIn, "go_on", lambda _: running.set(), raising=False)
    prepare(then=lambda _: running.wait(30))
    sessions._await_preparation("local[*]", {})
    assert running.is_set()
    assert sessions._preparation is None


def ended() -> None:
    """Wait for the preparing thread, as the next session does."""
    assert sessions._preparation is not None
    sessions._preparation.join()
    sessions._preparation = None


def test_nothing_is_prepared_for_a_cluster(started: list[StandIn]) -> None:
    """Nothing is prepared for a cluster."""
    prepare("spark://somewhere:7077")
    assert started == []


def test_nothing_is_prepared_without_a_java(started: list[StandIn], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Java preparing is refused like a session."""
    monkeypatch.setenv("JAVA_HOME", "nowhere")
    with pytest.raises(EnvironmentMissing, match="a Java 17 or later"):
        prepare()
    assert started == []
