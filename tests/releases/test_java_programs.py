"""Our Java programs: compiled once, the real driver, and the simulation hosts' needs."""

import zipfile
from pathlib import Path

import pytest

from rocketdiff.core.errors import EnvironmentMissing, HarnessError
from rocketdiff.releases.cache import DIGESTS
from rocketdiff.releases.jdk import JavaHome, find_java
from rocketdiff.releases.programs import java_programs
from rocketdiff.releases.programs.java_programs import compiled, driver_class_path, fetch_simulation, jar_of
from rocketdiff.releases.progress import silent

JAVA_8_CLASS = 52


@pytest.fixture
def java() -> JavaHome:
    """The machine's JDK, found before the cache folder changes."""
    return find_java()


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A source folder of one class with a non-ASCII word."""
    folder = tmp_path / "sources" / "demo"
    folder.mkdir(parents=True)
    (folder / "Greeting.java").write_text('package demo; class Greeting { static final String WORD = "grüß"; }')
    return tmp_path / "sources"


@pytest.mark.usefixtures("cache")
def test_classes_are_of_the_asked_level(java: JavaHome, sources: Path) -> None:
    """Classes have Java 8 level with any compiler, so one driver serves every JVM."""
    classes = compiled("demo", sources, [], java)
    content = (classes / "demo" / "Greeting.class").read_bytes()
    assert int.from_bytes(content[6:8]) == JAVA_8_CLASS
    assert "grüß".encode() in content


@pytest.fixture
def quick_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces javac, which takes a second: the class is the source's text."""

    def compiler(command: list[str]) -> None:
        source = Path(command[-1])
        target = Path(command[command.index("-d") + 1]) / source.parent.name / f"{source.stem}.class"
        target.parent.mkdir()
        target.write_bytes(source.read_bytes())

    monkeypatch.setattr(java_programs, "_run_compiler", compiler)


@pytest.mark.usefixtures("cache", "quick_compiler")
def test_the_second_time_no_compiler_runs(java: JavaHome, sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same sources and compiler give the existing folder without compiling."""
    first = compiled("demo", sources, [], java)
    monkeypatch.setattr(java_programs, "_run_compiler", lambda _command: pytest.fail("compiled again"))
    assert compiled("demo", sources, [], java) == first


@pytest.mark.parametrize("damage", ["empty", "gone", "more", "no list"])
@pytest.mark.usefixtures("cache", "quick_compiler")
def test_damaged_classes_are_compiled_again(java: JavaHome, sources: Path, damage: str) -> None:
    """Damaged classes are compiled again; they would look like a fault of their program."""
    classes = compiled("demo", sources, [], java)
    before = {path.name: path.read_bytes() for path in classes.rglob("*") if path.is_file()}
    match damage:
        case "empty":
            (classes / "demo" / "Greeting.class").write_bytes(b"")
        case "gone":
            (classes / "demo" / "Greeting.class").unlink()
        case "more":
            (classes / "demo" / "Other.class").write_bytes(b"x")
        case _:
            (classes / DIGESTS).unlink()
    again = compiled("demo", sources, [], java)
    assert {path.name: path.read_bytes() for path in again.rglob("*") if path.is_file()} == before
    assert [path.name for path in again.parent.iterdir()] == [again.name]


@pytest.mark.usefixtures("cache", "quick_compiler")
def test_a_jar_has_the_classes_alone_and_no_times(java: JavaHome, sources: Path) -> None:
    """A jar has only classes and no times, so it is equal when made again."""
    classes = compiled("demo", sources, [], java)
    jar = jar_of(classes)
    first, made_ns = jar.read_bytes(), jar.stat().st_mtime_ns
    with zipfile.ZipFile(jar) as file:
        assert [(one.filename, one.date_time) for one in file.infolist()] == [
            ("demo/Greeting.class", (1980, 1, 1, 0, 0, 0))
        ]
    assert jar_of(classes).stat().st_mtime_ns == made_ns
    jar.write_bytes(b"")
    assert jar_of(classes).read_bytes() == first


@pytest.mark.usefixtures("cache", "quick_compiler")
def test_changed_sources_are_compiled_anew(java: JavaHome, sources: Path) -> None:
    """Changed sources are compiled again: the key is their content."""
    first = compiled("demo", sources, [], java)
    (sources / "demo" / "Greeting.java").write_text("package demo; class Greeting { }")
    assert compiled("demo", sources, [], java) != first


def test_a_refusal_of_the_compiler_is_shown_and_leaves_nothing(java: JavaHome, sources: Path, cache: Path) -> None:
    """A compiler error is shown with file and line and leaves nothing."""
    (sources / "demo" / "Greeting.java").write_text("package demo; class Greeting { oops }")
    with pytest.raises(HarnessError, match=r"the Java sources to compile; saw .*Greeting\.java:1: error"):
        compiled("demo", sources, [], java)
    assert not list((cache / "classes").iterdir())


@pytest.mark.usefixtures("cache")
def test_no_sources_is_an_error(java: JavaHome, tmp_path: Path) -> None:
    """Missing sources are an error: an empty class folder would fail later."""
    with pytest.raises(HarnessError, match="saw none"):
        compiled("demo", tmp_path, [], java)


def test_a_cache_that_cannot_be_written_is_one_message(
    java: JavaHome, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache that cannot be written is one message that names ROCKETDIFF_CACHE."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("ROCKETDIFF_CACHE", str(tmp_path / "file"))
    with pytest.raises(EnvironmentMissing, match="ROCKETDIFF_CACHE"):
        compiled("demo", sources, [], java)


@pytest.mark.cluster
def test_the_driver_compiles_against_the_oldest_client() -> None:
    """The driver compiles against the oldest client, to Java 8 classes."""
    main = driver_class_path() / "rocketdiff" / "driver" / "Main.class"
    assert int.from_bytes(main.read_bytes()[6:8]) == JAVA_8_CLASS


def test_the_hosts_own_classes_and_those_of_all_releases_are_brought_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's classes and those of all releases are fetched once for several hosts."""
    done: list[tuple[str, object]] = []
    monkeypatch.setattr(java_programs, "simulator_class_path", lambda listener: done.append(("host", listener)))
    monkeypatch.setattr(
        java_programs, "fetch_clients", lambda releases, listener: done.append((" ".join(releases), listener))
    )
    listener = silent
    fetch_simulation(("4.9.8", "5.3.3"), listener)
    assert done == [("host", listener), ("4.9.8 5.3.3", listener)]
