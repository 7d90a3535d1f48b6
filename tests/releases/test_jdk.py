"""Which Java is chosen, and what is said when none fits."""

from pathlib import Path

import cjdk
import pytest

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.releases import jdk
from rocketdiff.releases.jdk import JavaHome, UnfitJava, find_java, judged
from tests.releases.loopback import RecordingListener

MODULES = "java.base java.compiler jdk.incubator.vector"


def make_jdk(home: Path, version: str, *, modules: str | None = MODULES, compiler: bool = True) -> Path:
    """A folder that looks like a JDK as far as we look."""
    (home / "bin").mkdir(parents=True)
    for name in ("java", "javac") if compiler else ("java",):
        (home / "bin" / name).touch(mode=0o755)
    lines = [f'JAVA_VERSION="{version}"', *([f'MODULES="{modules}"'] if modules is not None else [])]
    (home / "release").write_text("\n".join(lines))
    return home


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Path:
    """A machine without any Java; its standard folder is returned."""
    folder = tmp_path / "jvm"
    folder.mkdir()
    monkeypatch.setattr(jdk, "_STANDARD_PARENTS", (str(folder),))
    monkeypatch.setattr(jdk, "_MACOS_PARENT", str(tmp_path / "none"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("ROCKETDIFF_JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert not cache.exists()
    return folder


def test_a_jdk_of_17_is_preferred_to_a_newer_one(machine: Path) -> None:
    """25 would do, 17 is what old clients and Spark are tried with."""
    make_jdk(machine / "a-25", "25.0.3")
    home = make_jdk(machine / "b-17", "17.0.15")
    assert find_java() == JavaHome(home, 17, home / "bin" / "java", home / "bin" / "javac")


def test_java_home_wins_among_preferred_versions(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """17 and 21 are equals; the user's variable comes before the standard folders."""
    make_jdk(machine / "a-17", "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(make_jdk(tmp_path / "mine", "21.0.2")))
    assert find_java().home == tmp_path / "mine"


def test_java_home_of_another_version_does_not_win(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JAVA_HOME often points at the newest; it says nothing about us."""
    make_jdk(machine / "a-17", "17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(make_jdk(tmp_path / "mine", "25")))
    assert find_java().version == 17


def test_java_on_path_is_followed_to_its_home(machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Distributions link /usr/bin/java to the real one."""
    assert not list(machine.iterdir())
    home = make_jdk(tmp_path / "jdk", "17.0.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_java().home == home


def test_the_nearest_other_version_is_taken(machine: Path) -> None:
    """Without 17 and 21, the oldest of the rest."""
    make_jdk(machine / "a", "25.0.3")
    make_jdk(machine / "b", "22")
    assert find_java().version == 22


def test_our_own_variable_is_obeyed(machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where another would be preferred."""
    make_jdk(machine / "a-17", "17.0.15")
    monkeypatch.setenv("ROCKETDIFF_JAVA_HOME", str(make_jdk(tmp_path / "mine", "25")))
    assert find_java().version == 25


@pytest.mark.usefixtures("machine")
def test_our_own_variable_naming_something_else_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not silently passed over."""
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
    """Old, without compiler, without the module that Spark needs, or unreadable."""
    judgement = judged(make_jdk(tmp_path / "x", version, modules=modules, compiler=compiler))
    assert isinstance(judgement, UnfitJava)
    assert judgement.reason.startswith(reason)


def test_one_is_fetched_where_none_fits(
    machine: Path, progress: RecordingListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is progress, and the second time it is found without asking cjdk."""
    make_jdk(machine / "old", "11.0.2")

    def java_home(*, cache_dir: Path, **_: object) -> Path:
        return make_jdk(cache_dir / "v0" / "jdks" / "x", "17.0.9")

    monkeypatch.setattr(cjdk, "java_home", java_home)
    fetched = find_java(progress)
    assert fetched.version == 17
    assert f"{machine / 'old'}: version 11 is older than 17" in progress.notes[0]
    monkeypatch.setattr(cjdk, "java_home", lambda **_: pytest.fail("asked again"))
    assert find_java(progress) == fetched
    assert len(progress.notes) == 1


@pytest.mark.usefixtures("machine")
def test_neither_here_nor_to_be_had_is_one_clear_message(
    progress: RecordingListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was looked for, why fetching failed, what to install."""

    def java_home(**_: object) -> Path:
        raise cjdk.InstallError("no route to host")

    monkeypatch.setattr(cjdk, "java_home", java_home)
    with pytest.raises(EnvironmentMissing) as caught:
        find_java(progress)
    message = str(caught.value)
    assert "saw no Java in JAVA_HOME, PATH or the standard folders; fetching one failed: no route to host" in message
    assert "apt-get install openjdk-17-jdk-headless" in message
    assert caught.value.exit_code == 69
