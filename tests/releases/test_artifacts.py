"""Artifacts are fetched only if missing and kept only if complete."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocketdiff.core.errors import EnvironmentMissing, UsageError
from rocketdiff.releases.artifacts import class_paths as artifacts
from rocketdiff.releases.artifacts.class_paths import client_class_path, ensure, fetch_clients, server_class_path
from rocketdiff.releases.lock import Artifact, ArtifactLock
from tests.live import await_that
from tests.releases.loopback import RecordingListener, Repository


def test_paths_are_in_class_path_order_and_the_listener_informed(
    cache: Path, repository: Repository, progress: RecordingListener
) -> None:
    """Paths are returned in class path order, and the listener receives sizes and names."""
    jars = [repository.publish("org.z:last:1.0", b"zz" * 50), repository.publish("org.a:first:2.0:linux", b"a" * 40)]
    paths = ensure("client 9.9.9", jars, progress)
    assert paths == [
        cache / "artifacts/org/z/last/1.0/last-1.0.jar",
        cache / "artifacts/org/a/first/2.0/first-2.0-linux.jar",
    ]
    assert [path.read_bytes() for path in paths] == [b"zz" * 50, b"a" * 40]
    assert progress.starts == [("client 9.9.9", 2, 140)]
    assert progress.received_bytes == 140
    assert sorted(progress.names) == ["first-2.0-linux.jar", "last-1.0.jar"]
    assert progress.ends == 1


def test_a_second_request_uses_the_cache(cache: Path, repository: Repository, progress: RecordingListener) -> None:
    """A second request uses the cache, without network or announcement."""
    jars = [repository.publish("org.z:last:1.0", b"zz")]
    ensure("x", jars, progress)
    repository.requests.clear()
    assert ensure("x", jars, progress) == [cache / "artifacts" / jars[0].path]
    assert not repository.requests
    assert len(progress.starts) == 1


@pytest.mark.usefixtures("cache")
def test_only_missing_files_are_fetched(repository: Repository, progress: RecordingListener) -> None:
    """A file that releases share is fetched once."""
    shared, own = repository.publish("g:shared:1", b"shared"), repository.publish("g:own:1", b"own")
    ensure("one", [shared], progress)
    ensure("two", [shared, own], progress)
    assert repository.requests == {"shared-1.jar": 1, "own-1.jar": 1}
    assert progress.starts == [("one", 1, 6), ("two", 1, 3)]


@pytest.mark.usefixtures("cache")
def test_a_hundred_files_come_over_few_connections(repository: Repository, progress: RecordingListener) -> None:
    """Each thread keeps its connection."""
    ensure("many", [repository.publish(f"g:n{number}:1", b"content") for number in range(100)], progress)
    assert repository.requests.total() == 100
    assert repository.connections <= artifacts.DOWNLOADS_AT_ONCE


@pytest.mark.usefixtures("cache")
def test_several_releases_are_fetched_as_one(
    repository: Repository, progress: RecordingListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several releases are fetched together, shared jars once, and each finds its own afterwards."""
    shared, old, new = (repository.publish(f"g:{name}:1", name.encode()) for name in ("shared", "old", "new"))
    lock = ArtifactLock(
        clients={"1.0": (shared, old), "2.0": (new, shared), "3.0": (repository.publish("g:other:1", b"o"),)},
        servers={},
    )
    monkeypatch.setattr(artifacts, "locked", lambda: lock)
    fetch_clients(("1.0", "2.0"), progress)
    assert repository.requests == {"shared-1.jar": 1, "old-1.jar": 1, "new-1.jar": 1}
    assert progress.starts == [("2 releases of the Java client", 3, 12)]
    assert [path.name for path in client_class_path("2.0", progress)] == ["new-1.jar", "shared-1.jar"]
    fetch_clients(("1.0",), progress)
    assert (len(progress.starts), progress.notes) == (1, [])


def test_nothing_is_fetched_where_one_of_several_releases_is_unknown(
    cache: Path, repository: Repository, progress: RecordingListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unknown release is refused before any download, which takes minutes."""
    lock = ArtifactLock(clients={"1.0": (repository.publish("g:a:1", b"a"),)}, servers={})
    monkeypatch.setattr(artifacts, "locked", lambda: lock)
    with pytest.raises(UsageError, match=r"a known client release; saw 9\.9\.9"):
        fetch_clients(("1.0", "9.9.9"), progress)
    assert not repository.requests
    assert not cache.exists()


@pytest.mark.usefixtures("cache")
def test_corrupted_file_in_the_cache_is_detected_and_replaced(
    repository: Repository, progress: RecordingListener
) -> None:
    """A changed file in the cache is detected by content and fetched again."""
    jar = repository.publish("g:a:1", b"right content")
    (path,) = ensure("x", [jar], progress)
    path.write_bytes(b"wrong content")
    os.utime(path, ns=(1, 1))
    assert ensure("x", [jar], progress) == [path]
    assert path.read_bytes() == b"right content"
    assert progress.notes == [
        f"{path} is corrupted: its sha256 is not the one in the lock; fetching it again ({artifacts.OWN_JARS})"
    ]


@pytest.mark.usefixtures("cache")
def test_a_file_that_arrives_corrupted_is_fetched_once_more(
    repository: Repository, progress: RecordingListener
) -> None:
    """A file that arrives corrupted is fetched once more and reported."""
    jar = repository.publish("g:a:1", b"right content")
    repository.misbehave(jar, "corrupt")
    (path,) = ensure("x", [jar], progress)
    assert path.read_bytes() == b"right content"
    assert repository.requests["a-1.jar"] == 2
    assert len(progress.notes) == 1
    assert progress.notes[0].startswith("a-1.jar arrived with sha256")


@pytest.mark.usefixtures("cache")
def test_a_file_that_stays_corrupted_is_an_error_and_never_taken_in(
    repository: Repository, progress: RecordingListener
) -> None:
    """A file corrupted twice is an error and is not cached."""
    jar = repository.publish("g:a:1", b"right content")
    repository.misbehave(jar, "corrupt", "corrupt", "corrupt")
    with pytest.raises(EnvironmentMissing, match=r"expected g:a:1 with sha256 .*; saw sha256 .*, twice; try: "):
        ensure("x", [jar], progress)
    assert repository.requests["a-1.jar"] == 2
    assert progress.ends == 1


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("fault", ["cut", "unavailable"])
def test_a_broken_transfer_is_tried_again(repository: Repository, progress: RecordingListener, fault: str) -> None:
    """An interrupted or briefly refused transfer is repeated."""
    jar = repository.publish("g:a:1", b"right content")
    repository.misbehave(jar, fault)
    (path,) = ensure("x", [jar], progress)
    assert path.read_bytes() == b"right content"


def test_finished_files_survive_a_failed_fetch(
    cache: Path, repository: Repository, progress: RecordingListener
) -> None:
    """A failed fetch keeps the finished files and no partial one."""
    there = repository.publish("g:there:1", b"there " * 10)
    gone = Artifact("g:gone:1", "0" * 64, 1)
    with pytest.raises(EnvironmentMissing, match="to fetch g:gone:1 from the Maven repository"):
        ensure("x", [there, gone], progress)
    left = {path.name for path in cache.rglob("*") if path.is_file()}
    assert left == {".lock", "there-1.jar"}
    repository.requests.clear()
    ensure("x", [there], progress)
    assert not repository.requests


def test_a_killed_process_leaves_nothing_that_passes_for_whole(
    cache: Path, repository: Repository, progress: RecordingListener
) -> None:
    """After kill -9 the next process fetches the partial file and keeps finished ones."""
    quick, slow = repository.publish("g:quick:1", b"quick"), repository.publish("g:slow:1", b"slow" * 100_000)
    repository.misbehave(slow, "stall")
    with fetching_process([quick, slow]) as child:
        try:
            await_that(lambda: (cache / "artifacts" / quick.path).exists() and bool(list(cache.rglob("slow-1.jar"))))
        finally:
            child.kill()
    assert not (cache / "artifacts" / slow.path).exists()
    paths = ensure("x", [quick, slow], progress)
    assert paths[1].read_bytes() == b"slow" * 100_000
    assert repository.requests == {"quick-1.jar": 1, "slow-1.jar": 2}
    assert not (cache / "artifacts/.staging").exists()


def test_two_processes_at_once_fetch_each_file_once(cache: Path, repository: Repository) -> None:
    """Of processes that start together, one fetches each file and the others wait."""
    jars = [repository.publish(f"g:a{number}:1", b"x" * 1000) for number in range(5)]
    children = [fetching_process(jars) for _ in range(3)]
    assert [child.wait(timeout=300) for child in children] == [0, 0, 0]
    assert set(repository.requests.values()) == {1}
    assert len(list((cache / "artifacts").rglob("*.jar"))) == 5


def test_a_cache_that_cannot_be_written_is_one_message(
    tmp_path: Path, repository: Repository, progress: RecordingListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache that cannot be written is one message with a remedy."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ROCKETDIFF_CACHE", str(tmp_path / "file"))
    with pytest.raises(EnvironmentMissing, match=r"to be able to write to the cache folder .*ROCKETDIFF_CACHE"):
        ensure("x", [repository.publish("g:a:1", b"a")], progress)


def test_a_full_disk_is_one_message(
    tmp_path: Path, repository: Repository, progress: RecordingListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk (64 KiB for a jar of 1 MiB) is one message with a remedy."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount a small disk: {mounted.stderr.decode().strip()}")
    try:
        monkeypatch.setenv("ROCKETDIFF_CACHE", str(disk / "cache"))
        with pytest.raises(EnvironmentMissing, match=r"saw No space left on device; try: free some disk space"):
            ensure("x", [repository.publish("g:large:1", b"l" * 2**20)], progress)
    finally:
        subprocess.run(["/bin/umount", str(disk)], check=True)


def test_unknown_releases_are_refused() -> None:
    """An unknown release is refused with the closest known ones."""
    with pytest.raises(UsageError, match=r"a known client release; saw 9\.9\.9; try: .*4\.9\.8; the newest is 5\.5\.0"):
        client_class_path("9.9.9")
    with pytest.raises(UsageError, match="a known server release"):
        server_class_path("4.0.0-incubating")


def fetching_process(jars: list[Artifact]) -> subprocess.Popen[bytes]:
    program = (
        "from rocketdiff.releases.artifacts.class_paths import ensure\n"
        "from rocketdiff.releases.lock import Artifact\n"
        "from rocketdiff.releases.progress import silent\n"
        f"ensure('x', [Artifact(*row) for row in {[(j.coordinate, j.sha256, j.size_bytes) for j in jars]}], silent)\n"
    )
    return subprocess.Popen([sys.executable, "-c", program])
