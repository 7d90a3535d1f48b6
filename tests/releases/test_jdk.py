"""Selection of a JDK, and the message if none fits."""

import functools
import hashlib
import http.server
import platform
import tarfile
import threading
from pathlib import Path

import cjdk
import pytest

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.releases import jdk
from rocketdiff.releases.jdk import JavaHome, UnfitJava, find_java, judged
from tests.releases.loopback import RecordingListener

MODULES = "java.base java.compiler jdk.incubator.vector"


def make_jdk(home: Path, version: str, *, modules: str | None = MODULES, compiler: bool = True) -> Path:
    (home / "bin").mkdir(parents=True)
    for name in ("java", "javac") if compiler else ("java",):
        (home / "bin" / name).touch(mode=0o755)
    lines = [f'JAVA_VERSION="{version}"', *([f'MODULES="{modules}"'] if modules is not None else [])]
    (home / "release").write_text("\n".join(lines))
    return home


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Path:
    """A machine without Java; returns its standard folder."""
    folder = tmp_path / "jvm"
    folder.mkdir()
    monkeypatch.setattr(jdk, "_STANDARD_PARENTS", (str(folder),))
    monkeypatch.setattr(jdk, "_MACOS_PARENT", str(tmp_path / "none"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("ROCKETDIFF_JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert not cache.exists()
    return folder


def test_all_paths_of_a_jdk_are_found(machine: Path) -> None:
    """A JDK is found with its launcher and its compiler."""
    home = make_jdk(machine / "b-17", "17.0.15")
    assert find_java() == JavaHome(home, 17, home / "bin" / "java", home / "bin" / "javac")


@pytest.mark.parametrize(
    ("standard", "variable", "named", "chosen"),
    [
        (["25.0.3", "17.0.15"], None, "", 17),
        (["25.0.3", "22"], None, "", 22),
        (["17.0.15"], "JAVA_HOME", "21.0.2", 21),
        (["17.0.15"], "JAVA_HOME", "25", 17),
        (["17.0.15"], "ROCKETDIFF_JAVA_HOME", "25", 25),
    ],
)
def test_the_version_and_the_variable_decide_between_jdks(
    machine: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    standard: list[str],
    variable: str | None,
    named: str,
    chosen: int,
) -> None:
    """
    17 and 21 are preferred, since old clients and Spark are tested with them; without them the oldest other one is used.

    JAVA_HOME, which often names the newest, decides between preferred versions only; our own variable always decides.
    """
    for number, version in enumerate(standard):
        make_jdk(machine / str(number), version)
    if variable is not None:
        monkeypatch.setenv(variable, str(make_jdk(tmp_path / "mine", named)))
    assert find_java().version == chosen


def test_java_on_path_is_followed_to_its_home(machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A java on PATH is followed through its link to its home."""
    assert not list(machine.iterdir())
    home = make_jdk(tmp_path / "jdk", "17.0.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_java().home == home


@pytest.mark.usefixtures("machine")
def test_our_own_variable_naming_something_else_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ROCKETDIFF_JAVA_HOME without a JDK is an error."""
    monkeypatch.setenv("ROCKETDIFF_JAVA_HOME", str(tmp_path))
    with pytest.raises(
        EnvironmentMissing, match=r"ROCKETDIFF_JAVA_HOME to name a JDK of 17 or later; saw .*there is no bin/java"
    ):
        find_java()


@pytest.mark.parametrize(
    ("version", "modules", "compiler", "reason"),
    [
        ("1.8.0_402", None, True, "version 8 is older than 17"),
        ("17.0.1", MODULES, False, "it has no compiler"),
        ("17.0.1", "java.base", True, "it lacks the module jdk.incubator.vector"),
        ("odd", MODULES, True, "its release file names no version"),
    ],
)
def test_unfit_javas_are_named_with_the_reason(
    tmp_path: Path, version: str, modules: str | None, compiler: bool, reason: str
) -> None:
    """An unfit Java is reported as too old, without compiler or Spark's module, or unreadable."""
    judgement = judged(make_jdk(tmp_path / "x", version, modules=modules, compiler=compiler))
    assert isinstance(judgement, UnfitJava)
    assert judgement.reason.startswith(reason)


def test_one_is_fetched_where_none_fits(
    machine: Path, progress: RecordingListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If no Java fits, one is fetched with the reason and found the next time."""
    make_jdk(machine / "old", "11.0.2")

    def cache_package(_name: str, url: str, *, cache_dir: Path, sha256: str, **_: object) -> Path:
        assert "jdk-17.0.19%2B10/OpenJDK17U-jdk_x64_linux_hotspot_17.0.19_10.tar.gz" in url
        assert len(sha256) == 64
        return make_jdk(cache_dir / "v0" / "x" / "jdk-17.0.19+10", "17.0.19").parent

    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(cjdk, "cache_package", cache_package)
    fetched = find_java(progress)
    assert fetched.version == 17
    assert f"{machine / 'old'}: version 11 is older than 17" in progress.notes[0]
    monkeypatch.setattr(cjdk, "cache_package", lambda *_, **__: pytest.fail("asked again"))
    assert find_java(progress) == fetched
    assert len(progress.notes) == 1


@pytest.mark.usefixtures("machine")
def test_neither_here_nor_to_be_had_is_one_clear_message(
    progress: RecordingListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If fetching fails, the message has the search, the failure and what to install."""

    def cache_package(*_: object, **__: object) -> Path:
        raise cjdk.InstallError("no route to host")

    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    monkeypatch.setattr(cjdk, "cache_package", cache_package)
    with pytest.raises(EnvironmentMissing) as caught:
        find_java(progress)
    message = str(caught.value)
    assert "saw no Java in JAVA_HOME, PATH or the standard folders; fetching one failed: no route to host" in message
    assert "apt-get install openjdk-17-jdk-headless" in message
    assert caught.value.exit_code == 69


@pytest.mark.usefixtures("machine")
def test_a_platform_without_a_digest_fetches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no digest of a JDK is known, none is fetched."""
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    monkeypatch.setattr(cjdk, "cache_package", lambda *_, **__: pytest.fail("fetched"))
    with pytest.raises(EnvironmentMissing, match="no digest of a JDK for Linux on riscv64 is known"):
        find_java()


@pytest.mark.usefixtures("machine")
def test_a_jdk_with_another_digest_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive that is not the published one is neither unpacked nor used, though it holds a JDK."""
    served = tmp_path / "served"
    home = make_jdk(tmp_path / "jdk-17", "17.0.19")
    served.mkdir()
    with tarfile.open(served / "jdk.tar.gz", "w:gz") as packed:
        packed.add(home, "jdk-17")
    handler = functools.partial(QuietHandler, directory=str(served))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(jdk, "_FETCHED_FROM", f"tgz+http://127.0.0.1:{server.server_port}/jdk.tar.gz")
        monkeypatch.setattr(platform, "machine", lambda: "x86_64")
        insecure = functools.partial(cjdk.cache_package, _allow_insecure_for_testing=True)
        monkeypatch.setattr(cjdk, "cache_package", insecure)
        with pytest.raises(EnvironmentMissing, match="Hash does not match"):
            find_java()
        digest = hashlib.sha256((served / "jdk.tar.gz").read_bytes()).hexdigest()
        monkeypatch.setitem(jdk._FETCHED_SHA256, "x64", digest)
        assert find_java().version == 17
        server.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""
