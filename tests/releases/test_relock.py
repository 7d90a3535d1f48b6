"""The maintainer command, with a stand-in for Maven and no network."""

import hashlib
from pathlib import Path

import pytest

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.releases.artifacts import relock
from rocketdiff.releases.artifacts.relock import artifact_of, main, resolve
from rocketdiff.releases.lock import LOCK_FILE, Artifact, ArtifactLock, read_lock

MAVEN = """#!/bin/sh
for argument in "$@"; do case $argument in
  -Dmdep.outputFile=*) listing=${argument#*=} ;;
  -Dmaven.repo.local=*) repository=${argument#*=} ;;
esac; done
"""


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Path:
    """A stand-in for Maven on PATH, to which tests append commands."""
    program = tmp_path / "bin" / "mvn"
    program.parent.mkdir()
    program.write_text(MAVEN)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    assert not cache.exists()
    return program


def append(program: Path, script: str) -> None:
    program.write_text(program.read_text() + script)


@pytest.mark.parametrize(
    ("place", "coordinate"),
    [
        ("io/netty/netty-all/4.0.36.Final/netty-all-4.0.36.Final.jar", "io.netty:netty-all:4.0.36.Final"),
        ("io/netty/n-epoll/4.1/n-epoll-4.1-linux-x86_64.jar", "io.netty:n-epoll:4.1:linux-x86_64"),
    ],
)
def test_a_line_of_mavens_class_path_becomes_an_artifact(tmp_path: Path, place: str, coordinate: str) -> None:
    """An artifact's coordinate comes from the path, its digest and size from the content."""
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).write_bytes(b"jar")
    assert artifact_of(f"@/{place}", tmp_path) == Artifact(coordinate, hashlib.sha256(b"jar").hexdigest(), 3)


def test_the_order_of_the_class_path_is_kept(maven: Path) -> None:
    """Maven's class path order decides which of two equal classes is loaded, and is kept."""
    append(maven, "for n in b a; do mkdir -p $repository/g/$n/1; printf $n >$repository/g/$n/1/$n-1.jar; done\n")
    append(maven, 'printf "@/g/b/1/b-1.jar|@/g/a/1/a-1.jar" >$listing\n')
    assert [jar.coordinate for jar in resolve("5.3.3", ("rocketmq-client",))] == ["g:b:1", "g:a:1"]


def test_a_release_without_the_artifact_is_empty(maven: Path) -> None:
    """A release without the artifact is empty, because metadata lists some partly published versions."""
    append(maven, 'echo "[ERROR] Could not find artifact org.apache.rocketmq:rocketmq-client:jar:5.3.4"; exit 1\n')
    assert resolve("5.3.4", ("rocketmq-client",)) == ()


def test_any_other_failure_of_maven_stops(maven: Path) -> None:
    """Any other failure of Maven is an error, so that no lock is incomplete."""
    append(maven, 'echo "[ERROR] Connection refused"; exit 1\n')
    with pytest.raises(EnvironmentMissing, match=r"Maven to resolve 5\.3\.3; saw \[ERROR\] Connection refused"):
        resolve("5.3.3", ("rocketmq-client",))


def test_without_maven_the_message_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Maven, which only maintainers need, the message says so."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentMissing, match="mvn on PATH"):
        resolve("5.3.3", ("rocketmq-client",))


def test_check_writes_nothing_and_exits_with_1_on_a_difference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--check`` writes nothing and exits with 1 if the lock would change."""
    before = LOCK_FILE.read_bytes()
    monkeypatch.setattr(relock, "resolve_all", lambda _sections: ArtifactLock({}, {}))
    assert main(["--check"]) == 1
    monkeypatch.setattr(relock, "resolve_all", lambda _sections: read_lock(LOCK_FILE))
    assert main(["--check"]) == 0
    assert "the lock is current" in capsys.readouterr().out
    assert LOCK_FILE.read_bytes() == before
    assert not LOCK_FILE.with_suffix(".new").exists()


def test_a_named_section_alone_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A section can be renewed without the others, which keep their artifacts."""
    before, jar = read_lock(LOCK_FILE), Artifact("g:a:1", "aa", 1)
    monkeypatch.setattr(relock, "published_releases", lambda: ("4.2.0", "4.3.0", "4.3.1", "5.3.4"))
    monkeypatch.setattr(relock, "resolve", lambda release, _modules: () if release == "5.3.4" else (jar,))
    after = relock.resolve_all(("servers",))
    assert after.servers == {"4.3.1": (jar,)}, "4.3.0 does not start, 5.3.4 is not published"
    assert (after.clients, after.grpc_clients) == (before.clients, before.grpc_clients)
