"""The lock file: content, and a format in which changes can be reviewed."""

import json
import re
from pathlib import Path, PurePosixPath

import pytest

from rocketdiff.releases.lock import LOCK_FILE, Artifact, ArtifactLock, locked, read_lock, write_lock

A = Artifact("g.h:a:1.0", "aa", 10)
B = Artifact("g:b:2.0:linux-x86_64", "bb", 20)


def test_path_is_that_of_a_maven_repository() -> None:
    """Paths are those of a Maven repository; a classifier follows the version."""
    assert A.path == PurePosixPath("g/h/a/1.0/a-1.0.jar")
    assert B.path == PurePosixPath("g/b/2.0/b-2.0-linux-x86_64.jar")


def test_written_lock_reads_back_in_class_path_order(tmp_path: Path) -> None:
    """A written lock keeps the class path order although artifacts are sorted."""
    lock = ArtifactLock(clients={"1.0": (B, A), "2.0": (A,)}, servers={"2.0": (A, B)})
    write_lock(tmp_path / "lock.json", lock)
    assert read_lock(tmp_path / "lock.json") == lock


def test_each_artifact_stands_in_the_file_once_on_its_own_line(tmp_path: Path) -> None:
    """Each artifact has one line, so a changed jar changes one line."""
    write_lock(tmp_path / "lock.json", ArtifactLock(clients={"1.0": (B, A), "2.0": (A,)}, servers={}))
    lines = (tmp_path / "lock.json").read_text().splitlines()
    assert lines[3:6] == ['  ["g.h:a:1.0", "aa", 10],', '  ["g:b:2.0:linux-x86_64", "bb", 20]', "],"]
    assert lines[6:9] == ['"clients": {', '  "1.0": [1, 0],', '  "2.0": [0]']


def test_another_format_is_refused(tmp_path: Path) -> None:
    """A lock of another format is refused."""
    (tmp_path / "lock.json").write_text(json.dumps({"format": 2}))
    with pytest.raises(ValueError, match=re.escape("lock.json has format 2, this program reads 1")):
        read_lock(tmp_path / "lock.json")


def test_committed_lock_is_complete_and_canonical(tmp_path: Path) -> None:
    """The committed lock has digests, sizes, unique coordinates and the written form."""
    write_lock(tmp_path / "again.json", locked())
    assert (tmp_path / "again.json").read_bytes() == LOCK_FILE.read_bytes()
    rows = json.loads(LOCK_FILE.read_text())["artifacts"]
    assert len({coordinate for coordinate, _, _ in rows}) == len(rows)
    assert all(re.fullmatch(r"[0-9a-f]{64}", sha256) and size > 0 for _, sha256, size in rows)


def test_committed_lock_names_no_host() -> None:
    """The lock names no host: each machine chooses its repository."""
    assert "://" not in LOCK_FILE.read_text()


def test_each_release_holds_its_own_jars() -> None:
    """A client's class path has that release's client, a server's has both servers."""
    for release, jars in locked().clients.items():
        assert f"org.apache.rocketmq:rocketmq-client:{release}" in {jar.coordinate for jar in jars}
    for release, jars in locked().servers.items():
        assert {f"org.apache.rocketmq:rocketmq-{part}:{release}" for part in ("namesrv", "broker")} <= {
            jar.coordinate for jar in jars
        }
