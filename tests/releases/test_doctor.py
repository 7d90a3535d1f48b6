"""Findings of the doctor on machines that each lack one thing."""

import resource
from pathlib import Path

import pytest

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.releases import doctor, machine
from rocketdiff.releases.doctor import Requirement, examine
from rocketdiff.releases.jdk import UnfitJava
from rocketdiff.releases.lock import Artifact, ArtifactLock
from rocketdiff.releases.machine import ContainerEngine
from rocketdiff.run.selection import require_usable

EMPTY = Artifact("g:empty:1", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 0)
OTHER = Artifact("g:other:1", "0" * 64, 3 * 2**20)


def named(name: str) -> Requirement:
    (finding,) = (finding for finding in examine() if finding.name == name)
    return finding


@pytest.fixture(autouse=True)
def _small_lock(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Two client releases of toy jars, an empty cache and no real container engine."""
    assert not cache.exists()
    monkeypatch.setattr(doctor, "locked", lambda: ArtifactLock({"1.0": (EMPTY,), "2.0": (EMPTY, OTHER)}, {}))
    monkeypatch.setattr(machine, "container_engine", lambda: ContainerEngine("27.0", "docker 27.0"))


def put(cache: Path, jar: Artifact, content: bytes) -> None:
    path = cache / "artifacts" / jar.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_everything_is_looked_at_in_order() -> None:
    """The names and order of all findings, on which reports and scripts may rely."""
    assert list(dict.fromkeys(finding.name for finding in examine())) == [
        *("Python", "Java", "Java compiler", "cores", "memory", "cache folder", "disk", "open files"),
        *(
            "server jars",
            "client jars",
            "C++ client",
            "Go client",
            "Node client",
            "Rust client",
            "Go client that speaks gRPC",
            "Node client that speaks gRPC",
            "Rust client that speaks gRPC",
            "Python client that speaks gRPC",
            "Chromium",
            "container engine",
            "extra charts",
            "extra containers",
            "extra record",
        ),
    ]


def test_nothing_is_changed(cache: Path) -> None:
    """The doctor does not even create the cache folder."""
    examine()
    assert not cache.exists()


def test_a_finding_has_a_remedy_exactly_if_not_ok() -> None:
    """A finding has a remedy exactly if it is not ok."""
    assert all(bool(finding.remedy) != finding.ok for finding in examine())


def test_jars_that_are_here_are_named_and_others_fetched_when_used(cache: Path) -> None:
    """Present jars are named; absent ones are no defect."""
    put(cache, EMPTY, b"")
    assert named("client jars") == Requirement(
        "client jars",
        ok=True,
        seen="1 of 2 releases here: 1.0; the others (3 MiB) are fetched when first used",
        remedy="",
        needed=False,
    )


def test_the_cpp_client_is_built_when_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unbuilt C++ client is no defect; an unsupported machine is one for it."""
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert (named("C++ client").ok, named("C++ client").seen) == (True, "not built; built when first used")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    finding = named("C++ client")
    assert (finding.ok, finding.needed, finding.seen) == (False, False, "Linux on riscv64")


def test_a_corrupted_jar_is_a_defect(cache: Path) -> None:
    """A corrupted jar is a defect and is named."""
    put(cache, OTHER, b"wrong")
    finding = named("client jars")
    assert not finding.ok
    assert finding.seen.endswith("corrupted: other-1.jar")


def test_a_missing_java_is_named_with_the_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing Java is reported with the unfit ones and what to install."""
    monkeypatch.setattr(doctor, "local_java", lambda: (None, [UnfitJava(Path("/jdk8"), "version 8 is older than 17")]))
    finding = named("Java")
    assert not finding.ok
    assert finding.seen == "/jdk8: version 8 is older than 17"
    assert "openjdk-17-jdk-headless" in finding.remedy


def test_too_little_memory_cores_and_disk_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too few cores and too little memory or disk are reported."""
    monkeypatch.setattr(doctor, "MEMORY_BYTES", 2**60)
    monkeypatch.setattr(doctor, "FREE_DISK_BYTES", 2**60)
    monkeypatch.setattr(doctor, "CORES", 10_000)
    assert [
        finding.name for finding in examine() if not finding.ok and finding.name in {"memory", "disk", "cores"}
    ] == [
        "cores",
        "memory",
        "disk",
    ]


@pytest.mark.parametrize(("limits", "raised_to"), [((256, 256), 0), ((256, 4_096), 1_024), ((1_024, 1_024), 0)])
def test_a_low_limit_of_open_files_is_raised_or_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int], raised_to: int
) -> None:
    """With 256 open files a JVM reports missing classes; the limit is raised where that is allowed, else named."""
    made: list[int] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, changed: made.append(changed[0]))
    finding = named("open files")
    assert made == ([raised_to] if raised_to else [])
    assert (finding.ok, finding.needed) == (limits[1] >= 1_024, True)
    if not finding.ok:
        with pytest.raises(EnvironmentMissing, match=r"1,024 open files.*saw 256 \(ulimit -n\)"):
            require_usable(Path(), "none")


def test_a_cache_folder_that_cannot_be_made_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder that cannot be made is reported with ROCKETDIFF_CACHE."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("ROCKETDIFF_CACHE", str(tmp_path / "file" / "cache"))
    finding = named("cache folder")
    assert not finding.ok
    assert "ROCKETDIFF_CACHE" in finding.remedy


def test_an_engine_that_does_not_answer_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container engine that does not answer concerns only ``--cluster containers``."""
    monkeypatch.setattr(
        machine, "container_engine", lambda: ContainerEngine(None, "docker is installed, but: no daemon")
    )
    finding = named("container engine")
    assert not finding.ok
    assert finding.remedy.startswith("only for --cluster containers")


def test_only_what_the_main_job_cannot_do_without_is_needed() -> None:
    """Only what the main job needs can make `rocketdiff doctor` fail."""
    assert {finding.name for finding in examine() if finding.needed} == {
        *("Python", "Java", "Java compiler", "cache folder", "disk", "open files"),
    }
