"""A local RocketMQ: cluster up, its state, cluster down."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.cluster import up
from rocketdiff.cluster.containers.backend import Containers
from rocketdiff.cluster.operations import admin
from rocketdiff.core.errors import EnvironmentMissing, UsageError
from rocketdiff.process.liveness import started_ticks
from rocketmq_reference.host.channels import Channels
from tests.cluster.fakes import FakeCluster
from tests.cluster.processes import await_gone

ROOT = Path(__file__).parents[2]

OWNER = """
import sys, threading
from pathlib import Path
from rocketdiff.cluster import up
from rocketdiff.cluster.containers.backend import Containers
up._home = lambda: Path(sys.argv[1])
up.serve(threading.Event(), lambda state: print(state.name_servers[0], flush=True), topology="one-master")
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replaces the cache folder."""
    monkeypatch.setattr(up, "_home", lambda: tmp_path)
    return tmp_path


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    """Replaces a real cluster."""
    cluster = FakeCluster()

    def start(folder: Path, **_: object) -> FakeCluster:
        folder.mkdir()
        return cluster

    monkeypatch.setattr(up, "start_cluster", start)
    return cluster


def write_state(home: Path, **changes: object) -> None:
    fields = {
        "pid": os.getpid(),
        "started_ticks": started_ticks(os.getpid()),
        "topology": "one-master",
        "server_release": "5.3.3",
        "name_servers": ["127.0.0.1:1"],
        "brokers": {"broker-a": "127.0.0.1:2"},
        "folder": str(home / "x"),
    }
    (home / "up.json").write_text(json.dumps({**fields, **changes}))


def started_and_stopped(**how: Any) -> list[str]:
    """Start a cluster that is told to stop at once; return its backend."""
    stop, seen = threading.Event(), list[up.UpState]()
    stop.set()
    up.serve(stop, seen.append, **how)
    return [state.backend for state in seen]


def test_the_state_has_the_address_while_the_cluster_is_up(home: Path, fake: FakeCluster) -> None:
    """The state has the address while the cluster is up; its stop removes all files."""
    seen: list[up.UpState | None] = []
    stop = threading.Event()

    def announce(state: up.UpState) -> None:
        seen.extend([state, up.current()])
        stop.set()

    up.serve(stop, announce)
    assert seen[0] == seen[1]
    assert seen[0] is not None
    assert seen[0].name_servers == ("127.0.0.1:1",)
    assert fake.done == ["close"]
    assert up.current() is None
    assert list(home.iterdir()) == []


def test_ctrl_c_closes_it(home: Path, fake: FakeCluster) -> None:
    """An interrupt closes the cluster and is raised again."""

    def interrupt(_: up.UpState) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        up.serve(threading.Event(), interrupt)
    assert fake.done == ["close"]
    assert list(home.iterdir()) == []


def test_a_second_one_is_refused(home: Path, fake: FakeCluster) -> None:
    """A second cluster is refused with the first one's address."""
    write_state(home)
    with pytest.raises(UsageError, match=r"127.0.0.1:1 .*cluster down"):
        up.serve(threading.Event(), lambda _: None)
    assert fake.done == []


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"pid": 1}'])
def test_a_state_file_that_is_none_means_nothing(home: Path, text: str) -> None:
    """An incomplete state file, as of a full disk, means no cluster."""
    (home / "up.json").write_text(text)
    assert up.current() is None


def test_files_of_owners_that_are_gone_are_swept_away(home: Path, fake: FakeCluster) -> None:
    """The next start removes files of ended owners."""
    (home / "up-999999999").mkdir()
    assert started_and_stopped() == ["processes"]
    assert list(home.iterdir()) == []
    assert fake.done == ["close"]


def test_files_of_a_process_that_proc_hides_are_left_alone(
    home: Path, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of a process hidden in /proc are kept, because another user may share the cache folder."""
    monkeypatch.setattr(up, "started_ticks", lambda pid: 1 if pid == os.getpid() else None)
    monkeypatch.setattr(up, "is_there", lambda _: True)
    (home / "up-4711").mkdir()
    write_state(home, pid=4711)
    assert up.current() is None
    assert started_and_stopped() == ["processes"]
    assert [path.name for path in home.iterdir()] == ["up-4711"]
    assert fake.done == ["close"]


@pytest.fixture
def swept(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Counts sweeps of the engine."""
    times: list[str] = []
    monkeypatch.setattr(Containers, "sweep", lambda _: times.append("swept"))
    return times


def test_down_removes_containers_that_a_killed_owner_left(home: Path, swept: list[str]) -> None:
    """``down`` sweeps a killed owner's containers, once; no supervisor ends them."""
    write_state(home, started_ticks=1, backend="containers:host")
    assert up.down() is None
    assert up.down() is None
    assert swept == ["swept"]
    assert list(home.iterdir()) == []


def test_an_engine_is_asked_only_where_containers_were(home: Path, swept: list[str]) -> None:
    """A state file of an ended process means no cluster, even if its id is in use again; ``down`` calls no engine for it."""
    write_state(home, started_ticks=1)
    assert up.current() is None
    assert up.down() is None
    assert swept == []
    assert list(home.iterdir()) == []


def test_containers_are_not_forgotten_while_no_engine_answers(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an engine ``down`` is an error and keeps the state file."""

    def missing(_: Containers) -> None:
        raise EnvironmentMissing("an engine", seen="none")

    write_state(home, started_ticks=1, backend="containers")
    monkeypatch.setattr(Containers, "sweep", missing)
    with pytest.raises(EnvironmentMissing):
        up.down()
    assert (home / "up.json").exists()


def test_the_next_one_removes_containers_that_a_killed_owner_left(
    home: Path, fake: FakeCluster, swept: list[str]
) -> None:
    """The next start sweeps a killed owner's containers."""
    write_state(home, started_ticks=1, backend="containers")
    assert started_and_stopped(backend="containers:host") == ["containers:host"]
    assert swept == ["swept"]
    assert fake.done == ["close"]


@contextlib.contextmanager
def owner(home: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that runs a cluster, and its name server's address."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(home)], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
        process.kill()


@pytest.mark.cluster
def test_down_ends_a_real_one_from_another_process(home: Path) -> None:
    """``down`` ends a real cluster of another process: its supervisor ends the servers."""
    with owner(home) as (process, address), Channels() as channels:
        assert list(admin.registered_brokers(channels, address)) == ["broker-a"]
        state = up.down()
        assert state is not None
        assert state.name_servers == (address,)
        assert state.pid == process.pid
        await_gone([process.pid])
    assert list(home.iterdir()) == []
