"""The class archive of servers, written by a broker that ends at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import nodes_of
from rocketdiff.cluster.launched import server_archive
from rocketdiff.cluster.launched.command_line import Installation, installed
from rocketdiff.cluster.launched.server_archive import start_of, train, with_class_archive
from rocketdiff.cluster.processes.launch import start_processes
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.releases.class_archive import ARCHIVE, trained
from tests.cluster.processes import await_gone
from tests.live import READY_S, await_that

ROOT = Path(__file__).parents[2]

DUMPS = 'for word; do case $word in -XX:ArchiveClassesAtExit=*) echo classes > "${word#*=}";; esac; done\n'
"""Java's action at its end."""


@pytest.fixture
def toy(tmp_path: Path) -> Installation:
    """A release whose Java is a shell script that records its process id."""
    installation = Installation("5.3.3", tmp_path / "java", (tmp_path / "a.jar",))
    installation.java.touch(mode=0o755)
    return installation


@pytest.mark.parametrize(
    ("java", "how", "is_made"),
    [
        (DUMPS, "it exited with status 0; its last line: ", True),
        ("echo no such flag >&2; exit 3", "it exited with status 3; its last line: no such flag", False),
        (DUMPS + "exit 1", "it exited with status 1; its last line: ", False),
        ("echo skipping", "it exited with status 0; its last line: skipping", False),
        ("exec sleep 600", "it had not ended after 0.3 s; its last line: ", False),
    ],
)
def test_an_archive_counts_if_its_broker_ended_well(
    toy: Installation, tmp_path: Path, java: str, how: str, is_made: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive is kept only if its broker exited with 0; nothing else stays."""
    monkeypatch.setattr(server_archive, "READY_TIMEOUT_S", 0.3 if "sleep" in java else READY_S)
    _let_java(toy, java)
    draft = tmp_path / "draft"
    draft.mkdir()
    assert train(toy, draft / ARCHIVE, draft) == how
    assert [file.name for file in draft.iterdir()] == [ARCHIVE] * is_made
    await_gone(_pids(toy))


def test_kill_9_in_the_middle_leaves_neither_a_process_nor_a_file(toy: Installation, tmp_path: Path) -> None:
    """After ``kill -9`` the supervisor ends the training run and removes its folder."""
    _let_java(toy, "exec sleep 600")
    draft = tmp_path / "draft"
    draft.mkdir()
    code = (
        "import sys; from pathlib import Path; from rocketdiff.cluster.launched.server_archive import train\n"
        "from rocketdiff.cluster.launched.command_line import Installation\n"
        "java, jar, draft = map(Path, sys.argv[1:]); train(Installation('5.3.3', java, (jar,)), draft / 'a', draft)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "harness"), str(ROOT / "reference_impl")))}
    command = [sys.executable, "-c", code, *map(str, (toy.java, *toy.class_path, draft))]
    with subprocess.Popen(command, env=environment) as runner:
        await_that(lambda: bool(_pids(toy)), "the training run")
        runner.kill()
    await_gone(_pids(toy))
    await_that(lambda: not draft.exists(), "the removal of its folder")


def test_servers_start_without_an_archive_that_cannot_be_made(toy: Installation) -> None:
    """Servers start without an archive if their Java has none of its own."""
    _let_java(toy, DUMPS)
    assert [with_class_archive(toy), _pids(toy)] == [toy, []]


@pytest.mark.cluster
def test_servers_map_the_archive(cluster_folder: Path) -> None:
    """Name server and broker map the same archive."""
    installation = installed("5.3.3")
    start = start_of(installation)
    await_that(
        lambda: trained(start, lambda *files: train(installation, *files)) is not None,
        "an archive, whichever test makes it",
    )
    one_master = topology_named("one-master")
    with start_processes(one_master, installation, cluster_folder, timeout_s=READY_S) as cluster:
        mapped = {
            node.name: f"/{ARCHIVE}\n" in Path(f"/proc/{node.pid}/maps").read_text() for node in nodes_of(cluster)
        }
    assert mapped == {"name-server-1": True, "broker-a": True}


def _let_java(toy: Installation, script: str) -> None:
    toy.java.write_text(f"#!/bin/sh\necho $$ >> {_starts_file(toy)}\n{script}\n")


def _starts_file(toy: Installation) -> Path:
    return toy.java.with_name("starts")


def _pids(toy: Installation) -> list[int]:
    file = _starts_file(toy)
    return [int(pid) for pid in file.read_text().split()] if file.exists() else []
